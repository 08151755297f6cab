/** All buckets of the project. */
import { useEffect, useRef, useState } from "preact/hooks";
import { formatBytes } from "../../../base/format.ts";
import type { BucketStatistics, BucketSummary } from "../../api/buckets.ts";
import { bucketPath, callApi } from "../api-client.ts";
import { useChanges, useFetched } from "../frame/events.ts";
import { FormDialog, TextField } from "../frame/form.tsx";
import { countedNoun, formatCount } from "../frame/format.ts";
import { Icon } from "../frame/icon.tsx";
import { Link } from "../frame/navigation.tsx";
import { useNotices } from "../frame/notices.tsx";
import { PageHeader } from "../frame/page-header.tsx";
import { Button, Empty, Loading, Problem, Time } from "../frame/parts.tsx";
import { useShortcuts } from "../frame/shortcuts.tsx";
import { Table, type Column } from "../frame/table.tsx";
import { bucketPlace } from "../location.ts";

const configuration = `{
  "store_buckets": [
    { "binding": "PHOTOS", "bucket_name": "photos" }
  ]
}`;

interface BucketRow extends BucketSummary {
  /** `null` if they could not be counted. */
  readonly known: BucketStatistics | null | undefined;
}

const columns: readonly Column<BucketRow>[] = [
  {
    label: "Name",
    class: "bucket-name",
    isRowHeader: true,
    show: ({ name, remote }) => (
      <>
        <Link to={bucketPlace(name)}>
          <Icon name="bucket" />
          <bdi>{name}</bdi>
        </Link>
        {remote !== null && (
          <span class="badge" title={remote.endpoint}>
            on {remote.name}
          </span>
        )}
      </>
    ),
  },
  {
    label: "Bindings",
    class: "bucket-bindings narrow-hidden",
    show: ({ bindings }) =>
      bindings.length === 0 ? (
        <span class="soft">no binding</span>
      ) : (
        bindings.map((binding) => (
          <code key={binding} class="badge">
            {binding}
          </code>
        ))
      ),
  },
  {
    label: "Objects",
    class: "number",
    show: ({ known }) => (known ? formatCount(known.objects) : uncounted(known)),
  },
  {
    label: "Size",
    class: "number narrow-hidden",
    show: ({ known }) => (known ? formatBytes(known.bytes) : uncounted(known)),
  },
  { label: "Created", class: "narrow-hidden", show: ({ created }) => <Time at={created} /> },
];

function uncounted(known: null | undefined) {
  return <span class="soft">{known === null ? "not known" : "counting…"}</span>;
}

export function BucketsView() {
  const { data, problem, isLoading, reload } = useFetched<readonly BucketSummary[]>(
    (signal) => callApi("/api/buckets", { signal }),
    "buckets",
    ({ topic }) => topic === "buckets" || topic === "project",
  );
  const { statistics, recount } = useBucketStatistics(data);
  const notices = useNotices();
  const [isCreating, setCreating] = useState(false);
  const [newName, setNewName] = useState("");
  const [deleted, setDeleted] = useState<string>();
  useShortcuts({ n: { label: "New bucket", act: () => setCreating(true) } });
  const deleteColumn: Column<BucketRow> = {
    label: "Actions",
    class: "number",
    isLabelHidden: true,
    show: ({ name, isDeletable, known }) =>
      isDeletable &&
      known?.objects === 0 && (
        <Button tone="quiet" label={`Delete the bucket ${name}`} onClick={() => setDeleted(name)}>
          Delete
        </Button>
      ),
  };
  return (
    <>
      <PageHeader
        title="Buckets"
        counts={data && countedNoun(data.length, "bucket")}
        isLoading={isLoading}
        onReload={() => {
          reload();
          recount();
        }}
      >
        <Button icon="new" tone="primary" onClick={() => setCreating(true)}>
          New bucket
        </Button>
      </PageHeader>
      {problem !== undefined && <Problem problem={problem} onRetry={reload} />}
      {data === undefined && problem === undefined && <Loading what="the buckets" />}
      {data?.length === 0 && (
        <Empty title="There are no buckets yet">
          <p>
            Add a bucket to <code>wrangler.jsonc</code>, and the script finds it in its{" "}
            <code>env</code>:
          </p>
          <pre class="panel">{configuration}</pre>
          <p>Or choose New bucket: the bucket is then there for S3 clients and for this page.</p>
        </Empty>
      )}
      {data !== undefined && data.length > 0 && (
        <div class="panel">
          <Table
            noun="bucket"
            columns={[...columns, deleteColumn]}
            rows={data.map((bucket) => ({ ...bucket, known: statistics.get(bucket.name) }))}
            idOf={({ name }) => name}
          />
        </div>
      )}
      {isCreating && (
        <FormDialog
          title="New bucket"
          action="Create"
          onClose={() => setCreating(false)}
          onSubmit={async () => {
            await callApi("/api/buckets", { method: "POST", json: { name: newName } });
            setCreating(false);
            setNewName("");
            notices.show(`Created the bucket ${newName}.`);
            reload();
          }}
        >
          <TextField
            label="Name"
            hint="3 to 63 lower-case letters, digits and hyphens, with a letter or a digit at both ends."
            value={newName}
            onValue={setNewName}
          />
        </FormDialog>
      )}
      {deleted !== undefined && (
        <FormDialog
          title="Delete the bucket?"
          action="Delete"
          isDanger
          onClose={() => setDeleted(undefined)}
          onSubmit={async () => {
            await callApi(bucketPath(deleted), { method: "DELETE" });
            setDeleted(undefined);
            notices.show(`Deleted the bucket ${deleted}.`);
            reload();
          }}
        >
          <p>
            The bucket <bdi class="code">{deleted}</bdi> is empty. Its settings are deleted with the
            bucket.
          </p>
        </FormDialog>
      )}
    </>
  );
}

/** Browsers have six connections to a server: some are left for what a person does meanwhile. */
const countsAtOnce = 3;

/**
 * Counts and sizes by the name of the bucket; `null` for statistics that failed. Each is asked for by
 * itself, because a large bucket takes longer, and again when objects of the bucket change.
 */
function useBucketStatistics(buckets: readonly BucketSummary[] | undefined) {
  const [statistics, setKnown] = useState<ReadonlyMap<string, BucketStatistics | null>>(new Map());
  const work = useRef({ pending: new Set<string>(), running: new Set<string>() }).current;
  const left = useRef(new AbortController());
  useEffect(() => () => left.current.abort(), []);
  const next = (): void => {
    const name = [...work.pending].find((each) => !work.running.has(each));
    if (name === undefined || work.running.size >= countsAtOnce) return;
    work.pending.delete(name);
    work.running.add(name);
    void count(name);
    next();
  };
  const count = async (name: string): Promise<void> => {
    const { signal } = left.current;
    const counted = await callApi<BucketStatistics>(bucketPath(name), { signal }).catch(() => null);
    work.running.delete(name);
    if (signal.aborted) return;
    setKnown((before) => new Map(before).set(name, counted));
    next();
  };
  const recount = (names = buckets?.map(({ name }) => name) ?? []): void => {
    for (const name of names) work.pending.add(name);
    next();
  };
  useEffect(() => recount(), [buckets]);
  const changed = useRef(new Set<string>()).current;
  useChanges(
    (change) => {
      if (change.topic === "objects") changed.add(change.bucket);
      return change.topic === "objects";
    },
    () => {
      recount(changed.size === 0 ? undefined : [...changed]);
      changed.clear();
    },
  );
  return { statistics, recount };
}
