/** The uploads in parts of a bucket that are in progress, which scripts and S3 clients have begun. */
import { useState } from "preact/hooks";
import type { ListedUpload, UploadPage } from "../../api/buckets.ts";
import { bucketPath, callApi, type ApiCallError } from "../api-client.ts";
import { bucketPlace } from "../location.ts";
import { Dialog } from "../frame/dialog.tsx";
import { countedNoun, shownKey } from "../frame/format.ts";
import { PageHeader } from "../frame/page-header.tsx";
import { Empty, Loading, Problem, Time } from "../frame/parts.tsx";
import { useNotices } from "../frame/notices.tsx";
import { useFetched } from "../frame/events.ts";

/** The time left is shown in another colour during the last day. */
const soonMilliseconds = 24 * 60 * 60 * 1000;

export function UploadsView({ bucket }: { readonly bucket: string }) {
  const notices = useNotices();
  const path = bucketPath(bucket, "/uploads");
  const { data, problem, isLoading, reload } = useFetched<UploadPage>(
    (signal) => callApi(path, { signal }),
    path,
    (change) => change.topic === "uploads" && change.bucket === bucket,
  );
  const [aborting, setAborting] = useState<ListedUpload | null>(null);
  const abort = ({ key, uploadId }: ListedUpload): void => {
    setAborting(null);
    callApi(`${path}/${encodeURIComponent(uploadId)}`, { method: "DELETE", query: { key } })
      .then(
        () => notices.show(`The upload of ${shownKey(key)} is aborted.`),
        (error: ApiCallError) => notices.show(error.message, { tone: "problem" }),
      )
      .finally(reload);
  };
  const count = data && countedNoun(data.uploads.length, "upload");
  return (
    <>
      <PageHeader
        title="Uploads in progress"
        crumbs={[
          { label: "Buckets", to: { view: "buckets" } },
          { label: bucket, to: bucketPlace(bucket) },
        ]}
        counts={data && data.cursor !== null ? `the first ${count}` : count}
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
          <table class="table" aria-label={`Uploads to ${bucket}`}>
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
                // By the store's time, which may be ahead of the machine's.
                const left = expires - data.now;
                return (
                  <tr key={uploadId}>
                    <td title={`The id of the upload is ${uploadId}`}>
                      <bdi class="code">{shownKey(key)}</bdi>
                    </td>
                    <td class="narrow-hidden">
                      <Time at={created} />
                    </td>
                    <td class={left < soonMilliseconds ? "uploads-soon" : ""}>
                      {lifetimeText(left)}
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
                );
              })}
            </tbody>
          </table>
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
