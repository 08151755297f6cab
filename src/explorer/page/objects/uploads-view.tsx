/** The uploads in parts of a bucket that are in progress, which scripts and S3 clients have begun. */
import { useState } from "preact/hooks";
import type { ListedUpload, UploadPage } from "../../api/buckets.ts";
import { bucketPath, callApi } from "../api-client.ts";
import { bucketPlace } from "../location.ts";
import { FormDialog } from "../frame/form.tsx";
import { countedNoun, shownKey, spanWords } from "../frame/format.ts";
import { PageHeader } from "../frame/page-header.tsx";
import { Button, Empty, Loading, Problem, Time } from "../frame/parts.tsx";
import { useNotices } from "../frame/notices.tsx";
import { useFetched } from "../frame/events.ts";
import { Table, type Column } from "../frame/table.tsx";

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
  const columns: readonly Column<ListedUpload>[] = [
    {
      label: "Key",
      show: ({ key, uploadId }) => (
        <bdi class="code" title={`The id of the upload is ${uploadId}`}>
          {shownKey(key)}
        </bdi>
      ),
    },
    { label: "Started", class: "narrow-hidden", show: ({ created }) => <Time at={created} /> },
    {
      label: "Time left",
      show: ({ expires }) => {
        // By the store's time, which may be ahead of the machine's.
        const left = expires - (data?.now ?? 0);
        return (
          <span class={left < soonMilliseconds ? "uploads-soon" : ""}>{lifetimeText(left)}</span>
        );
      },
    },
    {
      label: "Actions",
      class: "number",
      isLabelHidden: true,
      show: (upload) => (
        <Button
          tone="danger"
          label={`Abort the upload of ${upload.key}`}
          onClick={() => setAborting(upload)}
        >
          Abort
        </Button>
      ),
    },
  ];
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
          <Table
            noun="upload"
            label={`Uploads to ${bucket}`}
            columns={columns}
            rows={data.uploads}
            idOf={({ uploadId }) => uploadId}
          />
        </div>
      )}
      {aborting !== null && (
        <FormDialog
          title="Abort the upload"
          action="Abort the upload"
          closeLabel="Keep the upload"
          isDanger
          onClose={() => setAborting(null)}
          onSubmit={async () => {
            const { key, uploadId } = aborting;
            const query = { key };
            await callApi(`${path}/${encodeURIComponent(uploadId)}`, { method: "DELETE", query });
            setAborting(null);
            notices.show(`The upload of ${shownKey(key)} is aborted.`);
            reload();
          }}
        >
          <p>
            The store deletes the parts of <bdi class="code">{shownKey(aborting.key)}</bdi> that
            have been uploaded. A program that is still uploading gets an error. This cannot be
            undone.
          </p>
        </FormDialog>
      )}
    </>
  );
}

/** Whole seconds, because more precision would only change more often. */
function lifetimeText(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  return seconds <= 0 ? "expired" : spanWords(seconds * 1000);
}
