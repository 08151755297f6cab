/** The details of one object, beside the list or over it: content, properties and what can be done. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { formatBytes } from "../../../base/format.ts";
import type { Link as ObjectLink, LinkRequest, ObjectDetails } from "../../api/buckets.ts";
import { apiUrl, bucketPath, callApi, type ApiCallError } from "../api-client.ts";
import { useShortcuts } from "../frame/shortcuts.tsx";
import { Button, Loading, Problem, Time } from "../frame/parts.tsx";
import { formatTime, shownKey } from "../frame/format.ts";
import { useNotices } from "../frame/notices.tsx";
import { useFetched } from "../frame/events.ts";
import { ContentView } from "./content-view.tsx";
import { MetadataDialog } from "./metadata-dialog.tsx";
import { httpFields } from "./metadata-draft.ts";

/** A longer key may have more lines than are shown at once: the keyboard has to reach it. */
const scrolledKeyLength = 100;
/** The longest that a signature allows: S3's limit of `X-Amz-Expires`. */
const linkSeconds = 7 * 24 * 60 * 60;

interface ObjectDetailsPanelProps {
  readonly bucket: string;
  readonly objectKey: string;
  readonly onClose: () => void;
  /** Deletes the object; resolves with whether the server has accepted the deletion. */
  readonly onDelete: () => Promise<boolean>;
}

export function ObjectDetailsPanel(props: ObjectDetailsPanelProps) {
  const { bucket, objectKey, onClose, onDelete } = props;
  const notices = useNotices();
  const { data, problem, reload } = useFetched<ObjectDetails>(
    (signal) => callApi(bucketPath(bucket, "/object"), { query: { key: objectKey }, signal }),
    `${bucket}/${objectKey}`,
    (change) => change.topic === "objects" && change.bucket === bucket,
  );
  const [isEditing, setEditing] = useState(false);
  useShortcuts({ Escape: { label: "Close the details", act: onClose } });
  return (
    <div class="details panel">
      <header class="details-header">
        <h2 class="details-key" {...(objectKey.length > scrolledKeyLength && { tabIndex: 0 })}>
          <bdi class="code">{shownKey(objectKey)}</bdi>
        </h2>
        <Button
          icon="close"
          tone="quiet"
          label="Close the details"
          title="Close (Escape)"
          onClick={onClose}
        />
      </header>
      {problem !== undefined && <Problem problem={problem} onRetry={reload} />}
      {data === undefined && problem === undefined && <Loading what="the details of the object" />}
      {data !== undefined && problem?.status !== 404 && (
        <div class="details-body">
          <Actions
            bucket={bucket}
            details={data}
            onEdit={() => setEditing(true)}
            onDelete={async () => {
              if (await onDelete()) onClose();
            }}
          />
          <section class="details-section" aria-label="Content">
            <ContentView
              key={`${data.etag} ${data.contentType} ${data.httpMetadata.contentEncoding}`}
              bucket={bucket}
              details={data}
            />
          </section>
          <Properties details={data} />
        </div>
      )}
      {isEditing && data !== undefined && (
        <MetadataDialog
          bucket={bucket}
          details={data}
          onClose={() => setEditing(false)}
          onSaved={() => {
            setEditing(false);
            notices.show("The metadata is saved.");
            reload();
          }}
        />
      )}
    </div>
  );
}

/** The content type comes first; hashes and the version are folded. */
function Properties({ details }: { readonly details: ObjectDetails }) {
  const { size, uploaded, etag, version, storageClass, checksums, httpMetadata } = details;
  const bytes = `${size.toLocaleString("en")} ${size === 1 ? "byte" : "bytes"}`;
  return (
    <section class="details-section" aria-labelledby="details-properties">
      <h3 id="details-properties">Properties</h3>
      <dl class="facts">
        <Property name="Content type">
          {httpMetadata.contentType === undefined ? (
            <span class="soft">not set</span>
          ) : (
            <span class="code">{httpMetadata.contentType}</span>
          )}
        </Property>
        <Property name="Size">{size < 1024 ? bytes : `${formatBytes(size)} (${bytes})`}</Property>
        <Property name="Modified">
          <Time at={uploaded} />
        </Property>
        <Property name="Storage class">
          {storageClass === "Standard" ? "Standard" : "Infrequent access"}
        </Property>
        {httpFields
          .slice(1)
          .filter(([field]) => httpMetadata[field] !== undefined)
          .map(([field, label]) => (
            <Property key={field} name={label}>
              <span class="code">{httpMetadata[field]}</span>
            </Property>
          ))}
        {httpMetadata.cacheExpiry !== undefined && (
          <Property name="Expires">
            <Time at={httpMetadata.cacheExpiry} />
          </Property>
        )}
        {Object.entries(details.customMetadata).map(([name, value]) => (
          <Property key={name} name={<bdi class="code">{name}</bdi>}>
            <bdi class="code">{value}</bdi>
          </Property>
        ))}
      </dl>
      <details>
        <summary>Hashes and version</summary>
        <dl class="facts">
          {Object.entries({ ETag: etag, Version: version, ...checksums }).map(([name, value]) => (
            <Property key={name} name={name in checksums ? name.toUpperCase() : name}>
              <span class="code">{value}</span>
            </Property>
          ))}
        </dl>
      </details>
    </section>
  );
}

function Property({ name, children }: { name: ComponentChildren; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

interface ActionsProps {
  readonly bucket: string;
  readonly details: ObjectDetails;
  readonly onEdit: () => void;
  /** Resolves when the server has accepted or refused the deletion. */
  readonly onDelete: () => Promise<void>;
}

function Actions({ bucket, details: { key, hasCustomerKey }, onEdit, onDelete }: ActionsProps) {
  const notices = useNotices();
  const [isDeleting, setDeleting] = useState(false);
  const copy = (what: string, text: string): Promise<unknown> =>
    navigator.clipboard.writeText(text).then(
      () => notices.show(`${what} is on the clipboard.`),
      () => {
        const reason = "The browser does not allow the page to copy. Copy it by hand: ";
        notices.show(reason + text, { tone: "problem" });
      },
    );
  const copyLink = async (): Promise<void> => {
    const json: LinkRequest = { key, expiresSeconds: linkSeconds };
    try {
      const path = bucketPath(bucket, "/links");
      const { url, expires } = await callApi<ObjectLink>(path, { method: "POST", json });
      await copy(`The link, which works until ${formatTime(expires)},`, url);
    } catch (error) {
      notices.show((error as ApiCallError).message, { tone: "problem" });
    }
  };
  return (
    <div class="toolbar">
      {!hasCustomerKey && (
        <a
          class="button"
          href={apiUrl(bucketPath(bucket, "/content"), { key, download: 1 })}
          download
        >
          Download
        </a>
      )}
      <Button onClick={() => void copy("The key", key)}>Copy key</Button>
      <Button onClick={() => void copyLink()}>Copy link</Button>
      <Button onClick={onEdit}>Edit metadata…</Button>
      <Button
        tone="danger"
        isDisabled={isDeleting}
        onClick={() => {
          setDeleting(true);
          void onDelete().finally(() => setDeleting(false));
        }}
      >
        Delete
      </Button>
    </div>
  );
}
