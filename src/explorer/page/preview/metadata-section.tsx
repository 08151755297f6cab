/** The metadata of an object, in a table or, while a person edits it, in a form. */
import { useEffect, useRef } from "preact/hooks";
import type { ObjectDetails } from "../../api/buckets.ts";
import { draftOf, textFields, type MetadataEditing } from "./metadata-draft.ts";
import { httpFieldLabels } from "./metadata-fields.ts";
import { MetadataEditor } from "./metadata-editor.tsx";
import { TimeText } from "./time-text.tsx";

interface MetadataSectionProps {
  readonly bucket: string;
  readonly details: ObjectDetails;
  readonly editing: MetadataEditing | null;
  readonly onEdit: (editing: MetadataEditing | null) => void;
  readonly onSaved: (details: ObjectDetails) => void;
}

export function MetadataSection(props: MetadataSectionProps) {
  const { bucket, details, editing, onEdit, onSaved } = props;
  const editButton = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  // The form that had the focus is gone.
  useEffect(() => {
    if (wasEditing.current && editing === null) editButton.current?.focus();
    wasEditing.current = editing !== null;
  }, [editing === null]);
  return (
    <section class="details-section" aria-labelledby="details-metadata">
      <header class="toolbar">
        <h3 id="details-metadata" class="grow">
          Metadata
        </h3>
        {editing === null && (
          <button
            ref={editButton}
            type="button"
            class="button"
            onClick={() => onEdit({ base: details, draft: draftOf(details) })}
          >
            Edit
          </button>
        )}
      </header>
      {editing === null ? (
        <MetadataTable details={details} />
      ) : (
        <MetadataEditor
          bucket={bucket}
          editing={editing}
          onEdit={onEdit}
          onSaved={(saved) => {
            onEdit(null);
            onSaved(saved);
          }}
        />
      )}
    </section>
  );
}

function MetadataTable({ details: { httpMetadata, customMetadata } }: { details: ObjectDetails }) {
  const { cacheExpiry } = httpMetadata;
  const fields = textFields.filter((field) => httpMetadata[field] !== undefined);
  const custom = Object.entries(customMetadata);
  if (fields.length === 0 && cacheExpiry === undefined && custom.length === 0) {
    return <p class="details-none">The object has no metadata.</p>;
  }
  return (
    <table class="table details-table">
      <thead class="visually-hidden">
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Value</th>
        </tr>
      </thead>
      <tbody>
        {fields.map((field) => (
          <tr key={field}>
            <th scope="row">{httpFieldLabels[field]}</th>
            <td>
              <span class="code">{httpMetadata[field]}</span>
            </td>
          </tr>
        ))}
        {cacheExpiry !== undefined && (
          <tr>
            <th scope="row">Expires</th>
            <td>
              <TimeText milliseconds={cacheExpiry} />
            </td>
          </tr>
        )}
      </tbody>
      {custom.length > 0 && (
        <tbody>
          <tr>
            <th class="details-group" colSpan={2} scope="rowgroup">
              Custom metadata
            </th>
          </tr>
          {custom.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">
                <bdi class="code">{name}</bdi>
              </th>
              <td>
                <bdi class="code">{value}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      )}
    </table>
  );
}
