/** The details of one object, beside the list or over it: content, properties and metadata. */
import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { formatBytes } from "../../../base/format.ts";
import type { ObjectDetails } from "../../api/buckets.ts";
import { bucketPath, callApi } from "../api-client.ts";
import { ContentPreview } from "../preview/content-preview.tsx";
import { useMetadataForm } from "../preview/metadata-forms.ts";
import { MetadataSection } from "../preview/metadata-section.tsx";
import { ObjectActions } from "../preview/object-actions.tsx";
import { TimeText } from "../preview/time-text.tsx";
import { useNotices } from "../state/notices.ts";
import { useFetched } from "../state/use-fetched.ts";
import { Dialog } from "./dialog.tsx";
import { useShortcuts } from "./shortcuts.tsx";
import { Loading, Problem } from "./states.tsx";
import "../styles/details.css";

/** A longer key may have more lines than are shown at once: the keyboard has to reach it. */
const scrolledKeyLength = 100;

interface ObjectDetailsPanelProps {
  readonly bucket: string;
  readonly objectKey: string;
  readonly onClose: () => void;
  /** The object has other metadata. */
  readonly onChanged: () => void;
  /** Deletes the object; resolves with whether the server has accepted the deletion. */
  readonly onDelete: () => Promise<boolean>;
}

export function ObjectDetailsPanel(props: ObjectDetailsPanelProps) {
  const { bucket, objectKey, onClose, onChanged, onDelete } = props;
  const notices = useNotices();
  const place = `${bucket}/${objectKey}`;
  const fetched = useFetched<ObjectDetails>(
    (signal) => callApi(bucketPath(bucket, "/object"), { query: { key: objectKey }, signal }),
    place,
  );
  /** What the server answered to a change, which is newer than what was fetched. */
  const [saved, setSaved] = useState<{
    after: ObjectDetails | undefined;
    details: ObjectDetails;
  }>();
  const details = saved?.after === fetched.data ? saved?.details : fetched.data;
  const form = useMetadataForm(place);
  const [isAsking, setAsking] = useState(false);
  const close = (): void => {
    if (form.isUnsaved) setAsking(true);
    else onClose();
  };
  useShortcuts({ Escape: { label: "Close the details", act: close } });
  return (
    <div class="details panel">
      <header class="details-header">
        <h2 class="details-key" {...(objectKey.length > scrolledKeyLength && { tabIndex: 0 })}>
          <bdi class="code">{objectKey}</bdi>
        </h2>
        <button
          type="button"
          class="button quiet"
          aria-label="Close the details"
          title="Close (Escape)"
          onClick={close}
        >
          ✕
        </button>
      </header>
      {fetched.problem !== undefined && (
        <Problem problem={fetched.problem} onRetry={fetched.reload} />
      )}
      {details === undefined && fetched.problem === undefined && (
        <Loading what="the details of the object" />
      )}
      {details !== undefined && fetched.problem?.status !== 404 && (
        <div class="details-body" key={place}>
          <ObjectActions
            bucket={bucket}
            details={details}
            onDelete={async () => {
              if (!(await onDelete())) return;
              form.edit(null);
              onClose();
            }}
          />
          <section class="details-section" aria-labelledby="details-content">
            <h3 id="details-content" class="visually-hidden">
              Content
            </h3>
            <ContentPreview
              key={`${details.etag} ${details.contentType} ${details.httpMetadata.contentEncoding}`}
              bucket={bucket}
              details={details}
              onReload={fetched.reload}
            />
          </section>
          <Properties details={details} />
          <MetadataSection
            bucket={bucket}
            details={details}
            editing={form.editing}
            onEdit={form.edit}
            onSaved={(next) => {
              setSaved({ after: fetched.data, details: next });
              notices.show("The metadata is saved.");
              onChanged();
            }}
          />
        </div>
      )}
      {form.isUnsaved && <EscapeGuard onEscape={close} />}
      {isAsking && (
        <DiscardDialog
          onKeep={() => setAsking(false)}
          onDiscard={() => {
            form.edit(null);
            onClose();
          }}
        />
      )}
    </div>
  );
}

/**
 * The panel's own Escape, once more: the key that was registered last counts, and the list around
 * the panel, which closes the panel without a question, may have been registered after the panel.
 */
function EscapeGuard({ onEscape }: { readonly onEscape: () => void }) {
  useShortcuts({ Escape: { label: "Close the details", act: onEscape } });
  return null;
}

function Properties({ details }: { readonly details: ObjectDetails }) {
  const { size, uploaded, etag, version, storageClass, checksums } = details;
  const bytes = `${size.toLocaleString("en")} ${size === 1 ? "byte" : "bytes"}`;
  return (
    <section class="details-section" aria-labelledby="details-properties">
      <h3 id="details-properties">Properties</h3>
      <dl class="details-properties">
        <dt>Size</dt>
        <dd>{size < 1024 ? bytes : `${formatBytes(size)} (${bytes})`}</dd>
        <dt>Modified</dt>
        <dd>
          <TimeText milliseconds={uploaded} />
        </dd>
        <dt>Storage class</dt>
        <dd>{storageClass === "Standard" ? "Standard" : "Infrequent access"}</dd>
        <dt>ETag</dt>
        <dd class="code">{etag}</dd>
        <dt>Version</dt>
        <dd class="code">{version}</dd>
        {Object.entries(checksums).map(([algorithm, checksum]) => (
          <Fragment key={algorithm}>
            <dt>{algorithm.toUpperCase()}</dt>
            <dd class="code">{checksum}</dd>
          </Fragment>
        ))}
      </dl>
    </section>
  );
}

interface DiscardDialogProps {
  readonly onKeep: () => void;
  readonly onDiscard: () => void;
}

function DiscardDialog({ onKeep, onDiscard }: DiscardDialogProps) {
  return (
    <Dialog title="Changes are not saved" onClose={onKeep}>
      <p>
        The metadata of the object has changes that are not saved. Closing the details discards the
        changes.
      </p>
      <div class="dialog-actions">
        <button type="button" class="button danger" onClick={onDiscard}>
          Discard the changes
        </button>
        <button type="button" class="button primary" onClick={onKeep}>
          Continue to edit
        </button>
      </div>
    </Dialog>
  );
}
