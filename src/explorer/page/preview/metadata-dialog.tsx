/**
 * The form that changes the metadata of an object and keeps its content. The server refuses the change
 * of an object that has changed since the form was opened, and says what the store does not accept.
 */
import { useId, useRef, useState } from "preact/hooks";
import type { ObjectDetails, StorageClass } from "../../api/buckets.ts";
import { bucketPath, callApi } from "../api-client.ts";
import { FormDialog, SelectField, TextField } from "../frame/form.tsx";
import { Button } from "../frame/parts.tsx";
import {
  changeOf,
  draftOf,
  httpFields,
  type CustomPair,
  type MetadataDraft,
} from "./metadata-draft.ts";

interface MetadataDialogProps {
  readonly bucket: string;
  readonly details: ObjectDetails;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function MetadataDialog({ bucket, details, onClose, onSaved }: MetadataDialogProps) {
  // The object that the form began with: newer details do not change what the person sees and saves.
  const base = useRef(details).current;
  const [draft, setDraft] = useState(() => draftOf(base));
  const id = useId();
  const edit = (parts: Partial<MetadataDraft>): void => setDraft({ ...draft, ...parts });
  return (
    <FormDialog
      title="Edit the metadata"
      action="Save"
      onClose={onClose}
      onSubmit={async () => {
        const request = { method: "PATCH", query: { key: base.key }, json: changeOf(draft, base) };
        await callApi(bucketPath(bucket, "/object"), request);
        onSaved();
      }}
    >
      <div class="metadata-form">
        {httpFields.map(([field, label]) => (
          <TextField
            key={field}
            label={label}
            value={draft.texts[field] ?? ""}
            onValue={(text) => edit({ texts: { ...draft.texts, [field]: text } })}
          />
        ))}
        <div class="field">
          <label for={id}>Expires (UTC)</label>
          <input
            id={id}
            class="input"
            type="datetime-local"
            step={0.001}
            value={draft.cacheExpiry}
            onInput={(event) => edit({ cacheExpiry: event.currentTarget.value })}
          />
        </div>
        <SelectField
          label="Storage class"
          value={draft.storageClass}
          options={["Standard", ["InfrequentAccess", "Infrequent access"]]}
          onValue={(storageClass) => edit({ storageClass: storageClass as StorageClass })}
        />
        <CustomPairs pairs={draft.custom} onEdit={(custom) => edit({ custom })} />
      </div>
    </FormDialog>
  );
}

interface CustomPairsProps {
  readonly pairs: readonly CustomPair[];
  readonly onEdit: (pairs: readonly CustomPair[]) => void;
}

function CustomPairs({ pairs, onEdit }: CustomPairsProps) {
  const addButton = useRef<HTMLButtonElement>(null);
  const added = useRef(-1);
  const edit = (id: number, parts: Partial<CustomPair>): void =>
    onEdit(pairs.map((pair) => (pair.id === id ? { ...pair, ...parts } : pair)));
  return (
    <fieldset class="custom-pairs">
      <legend>Custom metadata</legend>
      {pairs.map(({ id, name, value }, index) => (
        <div key={id} class="custom-pair">
          <input
            class="input code"
            dir="auto"
            ref={(input) => {
              if (input === null || added.current !== id) return;
              added.current = -1;
              input.focus();
            }}
            aria-label={`Name of pair ${index + 1}`}
            placeholder="Name"
            autocomplete="off"
            spellcheck={false}
            value={name}
            onInput={(event) => edit(id, { name: event.currentTarget.value })}
          />
          {/* A field of one line would lose line breaks. */}
          <textarea
            class="input code"
            dir="auto"
            rows={value.split("\n").length}
            aria-label={`Value of pair ${index + 1}`}
            placeholder="Value"
            spellcheck={false}
            value={value}
            onInput={(event) => edit(id, { value: event.currentTarget.value })}
          />
          <Button
            icon="close"
            tone="quiet"
            label={name === "" ? `Remove pair ${index + 1}` : `Remove ${name}`}
            title="Remove"
            onClick={() => {
              onEdit(pairs.filter((pair) => pair.id !== id));
              addButton.current?.focus();
            }}
          />
        </div>
      ))}
      <button
        ref={addButton}
        type="button"
        class="button"
        onClick={() => {
          added.current = Math.max(-1, ...pairs.map(({ id }) => id)) + 1;
          onEdit([...pairs, { id: added.current, name: "", value: "" }]);
        }}
      >
        Add a pair
      </button>
    </fieldset>
  );
}
