/** The uploads in parts of a bucket that are in progress, which scripts and S3 clients have begun. */
import { Fragment } from "preact";
import { useEffect, useState } from "preact/hooks";
import { formatBytes } from "../../../base/format.ts";
import type { ListedUpload, UploadDetails, UploadPage } from "../../api/buckets.ts";
import { bucketPath, callApi, type ApiCallError } from "../api-client.ts";
import { bucketPlace } from "../location.ts";
import { Dialog } from "../frame/dialog.tsx";
import { countedNoun, shownKey } from "../frame/format.ts";
import { Icon } from "../frame/icon.tsx";
import { PageHeader } from "../frame/page-header.tsx";
import { Empty, Loading, Problem, Time } from "../frame/parts.tsx";
import { useNotices } from "../frame/notices.tsx";
import { useFetched } from "../frame/events.ts";
import "../styles/objects.css";

/** The time left is shown in another colour during the last day. */
const soonMilliseconds = 24 * 60 * 60 * 1000;
/** An upload may have 10,000 parts: the page shows the first. */
const shownPartsMax = 200;

/** The first pages as one, with the page's own time at which `now` was read. */
interface Uploads extends UploadPage {
  readonly readAt: number;
}

async function readPages(bucket: string, count: number, signal: AbortSignal): Promise<Uploads> {
  const uploads: ListedUpload[] = [];
  for (let cursor: string | undefined; ;) {
    const query = { cursor };
    const page = await callApi<UploadPage>(bucketPath(bucket, "/uploads"), { query, signal });
    uploads.push(...page.uploads);
    if (page.cursor === null || --count === 0) {
      return { ...page, uploads, readAt: performance.now() };
    }
    cursor = page.cursor;
  }
}

export function UploadsView({ bucket }: { readonly bucket: string }) {
  const notices = useNotices();
  const [pages, setPages] = useState(1);
  const { data, problem, isLoading, reload } = useFetched(
    (signal) => readPages(bucket, pages, signal),
    `uploads of ${bucket}`,
    (change) => change.topic === "uploads" && change.bucket === bucket,
  );
  const [openId, setOpenId] = useState<string | null>(null);
  const [aborting, setAborting] = useState<ListedUpload | null>(null);
  useEffect(() => {
    if (pages > 1) reload();
  }, [pages]);

  const abort = ({ key, uploadId }: ListedUpload): void => {
    setAborting(null);
    callApi(uploadPath(bucket, uploadId), { method: "DELETE", query: { key } }).then(
      () => {
        notices.show(`The upload of ${key} is aborted.`);
        reload();
      },
      (error: ApiCallError) => {
        notices.show(error.message, { tone: "problem" });
        reload();
      },
    );
  };

  return (
    <>
      <PageHeader
        title="Uploads in progress"
        crumbs={[
          { label: "Buckets", to: { view: "buckets" } },
          { label: bucket, to: bucketPlace(bucket) },
        ]}
        counts={data?.cursor === null ? countedNoun(data.uploads.length, "upload") : undefined}
        onReload={reload}
        isLoading={isLoading}
      />
      {problem !== undefined && <Problem problem={problem} onRetry={reload} />}
      {data === undefined && isLoading && <Loading what={`the uploads to ${bucket}`} />}
      {data?.uploads.length === 0 && (
        <Empty title="No uploads in progress">
          <p>
            An upload in parts is listed here until it is completed or aborted. The store aborts an
            upload after seven days.
          </p>
        </Empty>
      )}
      {data !== undefined && data.uploads.length > 0 && (
        <div class="panel">
          <table class="table uploads-table" aria-label={`Uploads to ${bucket}`}>
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col" class="narrow-hidden">
                  Started
                </th>
                <th scope="col">Time left</th>
                <th scope="col">
                  <span class="visually-hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {data.uploads.map((upload) => {
                const { key, uploadId, created, expires } = upload;
                const isOpen = uploadId === openId;
                return (
                  <Fragment key={uploadId}>
                    <tr>
                      <td>
                        <button
                          type="button"
                          class="uploads-key"
                          aria-expanded={isOpen}
                          onClick={() => setOpenId(isOpen ? null : uploadId)}
                        >
                          <Icon name={isOpen ? "down" : "right"} />
                          <bdi class="code">{shownKey(key)}</bdi>
                        </button>
                      </td>
                      <td class="narrow-hidden">
                        <Time at={created} />
                      </td>
                      <td>
                        <TimeLeft expires={expires} now={data.now} readAt={data.readAt} />
                      </td>
                      <td class="number">
                        <button
                          type="button"
                          class="button danger"
                          aria-label={`Abort the upload of ${key}`}
                          onClick={() => setAborting(upload)}
                        >
                          Abort
                        </button>
                      </td>
                    </tr>
                    {isOpen && (
                      <tr>
                        <td colSpan={4}>
                          <Parts bucket={bucket} upload={upload} />
                        </td>
                      </tr>
                    )}
                  </Fragment>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      {data !== undefined && data.cursor !== null && (
        <div>
          <button
            type="button"
            class="button"
            disabled={isLoading}
            onClick={() => setPages(pages + 1)}
          >
            {isLoading ? "Loading more uploads…" : "Show more uploads"}
          </button>
        </div>
      )}
      {aborting !== null && (
        <Dialog title="Abort the upload" onClose={() => setAborting(null)}>
          <p>
            The store deletes the parts of <bdi class="code">{shownKey(aborting.key)}</bdi> that
            have been uploaded. A program that is still uploading gets an error. This cannot be
            undone.
          </p>
          <div class="dialog-actions">
            <button type="button" class="button" onClick={() => setAborting(null)}>
              Keep the upload
            </button>
            <button type="button" class="button danger" onClick={() => abort(aborting)}>
              Abort the upload
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

function uploadPath(bucket: string, uploadId: string): string {
  return bucketPath(bucket, `/uploads/${encodeURIComponent(uploadId)}`);
}

interface TimeLeftProps {
  readonly expires: number;
  readonly now: number;
  readonly readAt: number;
}

/** Counts down by the store's time, which may be ahead of the machine's. */
function TimeLeft({ expires, now, readAt }: TimeLeftProps) {
  const [passed, setPassed] = useState(() => performance.now() - readAt);
  useEffect(() => {
    const tick = (): void => setPassed(performance.now() - readAt);
    tick();
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  }, [readAt]);
  const milliseconds = expires - now - passed;
  return (
    <span class={milliseconds < soonMilliseconds ? "uploads-soon" : ""}>
      {lifetimeText(milliseconds)}
    </span>
  );
}

const units = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
] as const;

/** Rounded down, in two units, because more precision would only change more often. */
function lifetimeText(milliseconds: number): string {
  let seconds = Math.floor(milliseconds / 1000);
  if (seconds <= 0) return "expired";
  const first = units.findIndex(([, length]) => seconds >= length);
  return units
    .slice(first, first + 2)
    .flatMap(([name, length]) => {
      const count = Math.floor(seconds / length);
      seconds %= length;
      return count === 0 ? [] : [countedNoun(count, name)];
    })
    .join(" ");
}

interface PartsProps {
  readonly bucket: string;
  readonly upload: ListedUpload;
}

/** The parts of an upload that the store has. */
function Parts({ bucket, upload: { key, uploadId } }: PartsProps) {
  const { data, problem, reload } = useFetched<UploadDetails>(
    (signal) => callApi(uploadPath(bucket, uploadId), { query: { key }, signal }),
    uploadId,
  );
  if (problem !== undefined) return <Problem problem={problem} onRetry={reload} />;
  if (data === undefined) return <Loading what="the parts" />;
  const { parts } = data;
  const bytes = parts.reduce((sum, { size }) => sum + size, 0);
  return (
    <div class="uploads-parts" role="region" aria-label="Parts" tabIndex={0}>
      <p>
        {countedNoun(parts.length, "part")}, {formatBytes(bytes)} in all
        {parts.length > shownPartsMax && `; the first ${shownPartsMax} are shown`}. The id of the
        upload is <span class="code">{uploadId}</span>.
      </p>
      {parts.length > 0 && (
        <table class="table">
          <thead>
            <tr>
              <th scope="col" class="number">
                Part
              </th>
              <th scope="col" class="number">
                Size
              </th>
              <th scope="col">Etag</th>
            </tr>
          </thead>
          <tbody>
            {parts.slice(0, shownPartsMax).map(({ partNumber, size, etag }) => (
              <tr key={partNumber}>
                <td class="number">{partNumber}</td>
                <td class="number">{formatBytes(size)}</td>
                <td>
                  <span class="code">{etag}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
