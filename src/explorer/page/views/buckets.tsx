/** All buckets of the project. */
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { formatBytes } from "../../../base/format.ts";
import type { BucketStatistics, BucketSummary } from "../../api/buckets.ts";
import { bucketPath, callApi, type ApiCallError } from "../api-client.ts";
import { bucketPlace } from "../location.ts";
import { formatCount } from "../frame/format.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Link } from "../parts/link.tsx";
import { LocalTime } from "../parts/local-time.tsx";
import { NewBucketDialog } from "../parts/new-bucket-dialog.tsx";
import { useShortcuts } from "../parts/shortcuts.tsx";
import { Empty, Loading, Problem } from "../parts/states.tsx";
import { useNotices } from "../state/notices.ts";
import { useBucketStatistics, type StatisticsByName } from "../state/use-bucket-statistics.ts";
import { useFetched } from "../state/use-fetched.ts";
import "../styles/buckets.css";

const configuration = `{
  "store_buckets": [
    { "binding": "PHOTOS", "bucket_name": "photos" }
  ]
}`;

export function BucketsView() {
  const buckets = useFetched<readonly BucketSummary[]>(
    (signal) => callApi("/api/buckets", { signal }),
    "buckets",
  );
  const statistics = useBucketStatistics(buckets.data);
  const notices = useNotices();
  const [isCreating, setCreating] = useState(false);
  const [deleted, setDeleted] = useState<string>();
  const table = useRef<HTMLTableElement>(null);
  const focusBucket = (step: 1 | -1): void => {
    const links = [...(table.current?.querySelectorAll<HTMLElement>("th a") ?? [])];
    const index = links.findIndex((link) => link === document.activeElement);
    links[index === -1 ? 0 : Math.min(links.length - 1, Math.max(0, index + step))]?.focus();
  };
  useShortcuts({
    ArrowDown: { label: "Next bucket", act: () => focusBucket(1) },
    ArrowUp: { label: "Previous bucket", act: () => focusBucket(-1) },
    n: { label: "New bucket", act: () => setCreating(true) },
  });
  const deleteBucket = (name: string): void => {
    setDeleted(undefined);
    callApi(bucketPath(name), { method: "DELETE" }).then(
      () => {
        notices.show(`Deleted the bucket ${name}.`);
        buckets.reload();
      },
      (error: ApiCallError) => {
        notices.show(error.message, { tone: "problem" });
        buckets.reload();
      },
    );
  };
  const { data, problem } = buckets;
  return (
    <>
      <div class="toolbar">
        <h1 class="grow">Buckets</h1>
        <button type="button" class="button" onClick={() => setCreating(true)}>
          New bucket
        </button>
      </div>
      {problem !== undefined && <Problem problem={problem} onRetry={buckets.reload} />}
      {data === undefined && problem === undefined && <Loading what="the buckets" />}
      {data?.length === 0 && (
        <Empty title="There are no buckets yet">
          <p>
            Add a bucket to <code>wrangler.jsonc</code>, and the script finds it in its{" "}
            <code>env</code>:
          </p>
          <pre class="panel bucket-example">{configuration}</pre>
          <p>Or choose New bucket: the bucket is then there for S3 clients and for this page.</p>
        </Empty>
      )}
      {data !== undefined && data.length > 0 && (
        <div class="panel bucket-list">
          {/* The roles remain when a narrow page shows the rows as cards. */}
          <table class="table" role="table" ref={table}>
            <thead role="rowgroup">
              <tr role="row">
                <th role="columnheader" scope="col">
                  Name
                </th>
                <th role="columnheader" scope="col">
                  Bindings
                </th>
                <th role="columnheader" scope="col" class="number">
                  Objects
                </th>
                <th role="columnheader" scope="col" class="number">
                  Size
                </th>
                <th role="columnheader" scope="col" class="bucket-created">
                  Created
                </th>
                <th role="columnheader" scope="col">
                  <span class="visually-hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody role="rowgroup">
              {data.map((bucket) => (
                <BucketRow
                  key={bucket.name}
                  bucket={bucket}
                  statistics={statistics}
                  onDelete={() => setDeleted(bucket.name)}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {isCreating && (
        <NewBucketDialog
          onClose={() => setCreating(false)}
          onCreated={({ name }) => {
            setCreating(false);
            notices.show(`Created the bucket ${name}.`);
            buckets.reload();
          }}
        />
      )}
      {deleted !== undefined && (
        <Dialog title="Delete the bucket?" onClose={() => setDeleted(undefined)}>
          <p>
            The bucket <bdi class="code">{deleted}</bdi> is empty. Its settings are deleted with the
            bucket.
          </p>
          <div class="dialog-actions">
            <button type="button" class="button" onClick={() => setDeleted(undefined)}>
              Cancel
            </button>
            <button type="button" class="button danger" onClick={() => deleteBucket(deleted)}>
              Delete
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

interface BucketRowProps {
  readonly bucket: BucketSummary;
  readonly statistics: StatisticsByName;
  readonly onDelete: () => void;
}

function BucketRow({ bucket, statistics, onDelete }: BucketRowProps) {
  const { name, bindings, created, isDeletable, remote } = bucket;
  const known = statistics.get(name);
  return (
    <tr role="row">
      <th role="rowheader" scope="row" class="bucket-name">
        <Link to={bucketPlace(name)}>
          <bdi>{name}</bdi>
        </Link>
        {remote !== null && (
          <span class="badge bucket-remote" title={remote.endpoint}>
            on {remote.name}
          </span>
        )}
      </th>
      <td role="cell" class="bucket-binding">
        {bindings.length === 0 ? (
          <span class="soft">no binding</span>
        ) : (
          <span class="bucket-bindings">
            {bindings.map((binding) => (
              <code key={binding} class="badge">
                {binding}
              </code>
            ))}
          </span>
        )}
      </td>
      <StatisticsCell
        class="bucket-objects"
        known={known}
        text={({ objects }) => (
          <>
            {formatCount(objects)}
            <span class="bucket-noun"> {objects === 1 ? "object" : "objects"}</span>
          </>
        )}
      />
      <StatisticsCell class="bucket-size" known={known} text={({ bytes }) => formatBytes(bytes)} />
      <td role="cell" class="bucket-created">
        <LocalTime at={created} />
      </td>
      <td role="cell" class="number bucket-actions">
        {isDeletable && known?.objects === 0 && (
          <button
            type="button"
            class="button quiet"
            aria-label={`Delete the bucket ${name}`}
            onClick={onDelete}
          >
            Delete
          </button>
        )}
      </td>
    </tr>
  );
}

function StatisticsCell({
  class: className,
  known,
  text,
}: {
  readonly class: string;
  readonly known: BucketStatistics | null | undefined;
  readonly text: (statistics: BucketStatistics) => ComponentChildren;
}) {
  return (
    <td role="cell" class={`number ${className}`}>
      {known === undefined ? (
        <span class="soft">counting…</span>
      ) : known === null ? (
        <span class="soft">not known</span>
      ) : (
        text(known)
      )}
    </td>
  );
}
