/** The uploads in parts of a bucket that are in progress: of this page, of scripts and of S3 clients. */
import { Fragment } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ListedUpload, UploadDetails } from "../../api/buckets.ts";
import { callApi, type ApiCallError } from "../api-client.ts";
import { bucketPlace } from "../location.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Link } from "../parts/link.tsx";
import { Empty, Loading, Problem } from "../parts/states.tsx";
import { UploadParts } from "../parts/upload-parts.tsx";
import { useNotices } from "../state/notices.ts";
import { useFetched } from "../state/use-fetched.ts";
import { uploadPath } from "../uploads/page-transport.ts";
import { uploads as queue } from "../uploads/page-uploads.ts";
import { lifetimeText } from "../uploads/time-left.ts";
import { isUploadGone } from "../uploads/upload-transport.ts";
import { useUploadPages } from "../uploads/use-upload-pages.ts";
import { useUploaded } from "../uploads/use-uploads.ts";
import "../styles/uploads.css";

/** The time left is shown in another colour during the last day. */
const soonMilliseconds = 24 * 60 * 60 * 1000;
const shortIdLength = 8;
const times = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function UploadsView({ bucket }: { readonly bucket: string }) {
  const notices = useNotices();
  const { pages, problem, isLoading, reload, loadMore, remove } = useUploadPages(bucket);
  const [openId, setOpenId] = useState<string | null>(null);
  const [aborting, setAborting] = useState<ListedUpload | null>(null);
  useUploaded({ bucket, prefix: "" }, reload);

  const abort = async (upload: ListedUpload): Promise<void> => {
    setAborting(null);
    const { key, uploadId } = upload;
    try {
      // The queue would otherwise begin the upload again.
      await queue.cancelUpload(uploadId);
      await callApi(uploadPath({ bucket, uploadId }), { method: "DELETE", query: { key } });
    } catch (error) {
      if (!isUploadGone(error)) {
        notices.show((error as ApiCallError).message, { tone: "problem" });
        return;
      }
    }
    remove(uploadId);
    notices.show(`The upload of ${key} is aborted.`);
  };

  return (
    <>
      <div class="toolbar">
        <h1>
          Uploads to <bdi>{bucket}</bdi>
        </h1>
        <span class="grow" />
        <button type="button" class="button" onClick={reload}>
          Reload
        </button>
        <Link class="button" to={bucketPlace(bucket)}>
          Show the objects
        </Link>
      </div>
      {problem !== undefined && <Problem problem={problem} onRetry={reload} />}
      {pages === undefined && isLoading && <Loading what={`the uploads to ${bucket}`} />}
      {pages?.uploads.length === 0 && (
        <Empty title="No uploads in progress">
          <p>
            An upload in parts is listed here until it is completed or aborted. The store aborts an
            upload after seven days.
          </p>
        </Empty>
      )}
      {pages !== undefined && pages.uploads.length > 0 && (
        <div class="panel">
          <table class="table uploads-table" aria-label={`Uploads to ${bucket}`}>
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col" class="narrow-hidden">
                  Upload
                </th>
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
              {pages.uploads.map((upload) => {
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
                          <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span>
                          <bdi class="code">{key}</bdi>
                        </button>
                      </td>
                      <td class="narrow-hidden">
                        <span class="code">{uploadId.slice(0, shortIdLength)}…</span>
                      </td>
                      <td class="narrow-hidden">{times.format(created)}</td>
                      <td>
                        <TimeLeft expires={expires} now={pages.now} readAt={pages.readAt} />
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
                        <td colSpan={5}>
                          <OpenUpload bucket={bucket} upload={upload} />
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
      {pages !== undefined && pages.cursor !== null && (
        <div>
          <button type="button" class="button" disabled={isLoading} onClick={loadMore}>
            {isLoading ? "Loading more uploads…" : "Show more uploads"}
          </button>
        </div>
      )}
      {aborting !== null && (
        <Dialog title="Abort the upload" onClose={() => setAborting(null)}>
          <p>
            The store deletes the parts of <bdi class="code">{aborting.key}</bdi> that have been
            uploaded. A program that is still uploading gets an error. This cannot be undone.
          </p>
          <div class="dialog-actions">
            <button type="button" class="button" onClick={() => setAborting(null)}>
              Keep the upload
            </button>
            <button type="button" class="button danger" onClick={() => void abort(aborting)}>
              Abort the upload
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

/** Counts down by the store's time, which may be ahead of the machine's. */
function TimeLeft({
  expires,
  now,
  readAt,
}: {
  readonly expires: number;
  readonly now: number;
  readonly readAt: number;
}) {
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

function OpenUpload({
  bucket,
  upload: { key, uploadId, created },
}: {
  readonly bucket: string;
  readonly upload: ListedUpload;
}) {
  const { data, problem, reload } = useFetched<UploadDetails>(
    (signal) => callApi(uploadPath({ bucket, uploadId }), { query: { key }, signal }),
    uploadId,
  );
  return (
    <div class="uploads-details">
      <dl class="uploads-facts">
        <dt>Upload</dt>
        <dd>
          <span class="code">{uploadId}</span>
        </dd>
        <dt>Started</dt>
        <dd>{times.format(created)}</dd>
      </dl>
      {problem !== undefined ? (
        <Problem problem={problem} onRetry={reload} />
      ) : data === undefined ? (
        <Loading what="the parts" />
      ) : (
        <UploadParts parts={data.parts} />
      )}
    </div>
  );
}
