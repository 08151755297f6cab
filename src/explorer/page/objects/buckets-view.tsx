/** All buckets of the project. */
import { useEffect, useRef, useState } from "preact/hooks";
import { formatBytes } from "../../../base/format.ts";
import type { BucketStatistics, BucketSummary } from "../../api/buckets.ts";
import { bucketPath, callApi, type ApiCallError } from "../api-client.ts";
import { Dialog } from "../frame/dialog.tsx";
import { useChanges, useFetched } from "../frame/events.ts";
import { countedNoun, formatCount } from "../frame/format.ts";
import { Icon } from "../frame/icon.tsx";
import { Link } from "../frame/navigation.tsx";
import { useNotices } from "../frame/notices.tsx";
import { PageHeader } from "../frame/page-header.tsx";
import { Empty, Loading, Problem, Time } from "../frame/parts.tsx";
import { useShortcuts } from "../frame/shortcuts.tsx";
import { bucketPlace } from "../location.ts";

const configuration = `{
  "store_buckets": [
    { "binding": "PHOTOS", "bucket_name": "photos" }
  ]
}`;

const columns = [
  ["", "Name"],
  ["narrow-hidden", "Bindings"],
  ["number", "Objects"],
  ["number narrow-hidden", "Size"],
  ["narrow-hidden", "Created"],
] as const;

export function BucketsView() {
  const { data, problem, isLoading, reload } = useFetched<readonly BucketSummary[]>(
    (signal) => callApi("/api/buckets", { signal }),
    "buckets",
    ({ topic }) => topic === "buckets" || topic === "project",
  );
  const { statistics, recount } = useBucketStatistics(data);
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
    callApi(bucketPath(name), { method: "DELETE" })
      .then(
        () => notices.show(`Deleted the bucket ${name}.`),
        (error: ApiCallError) => notices.show(error.message, { tone: "problem" }),
      )
      .finally(reload);
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
        <button type="button" class="button primary" onClick={() => setCreating(true)}>
          <Icon name="new" />
          New bucket
        </button>
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
          <table class="table" ref={table}>
            <thead>
              <tr>
                {columns.map(([className, name]) => (
                  <th key={name} scope="col" class={className}>
                    {name}
                  </th>
                ))}
                <th scope="col">
                  <span class="visually-hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {data.map((bucket) => (
                <BucketRow
                  key={bucket.name}
                  bucket={bucket}
                  known={statistics.get(bucket.name)}
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
            reload();
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

interface BucketRowProps {
  readonly bucket: BucketSummary;
  readonly known: BucketStatistics | null | undefined;
  readonly onDelete: () => void;
}

function BucketRow({ bucket, known, onDelete }: BucketRowProps) {
  const { name, bindings, created, isDeletable, remote } = bucket;
  const uncounted = <span class="soft">{known === null ? "not known" : "counting…"}</span>;
  return (
    <tr>
      <th scope="row" class="bucket-name">
        <Link to={bucketPlace(name)}>
          <Icon name="bucket" />
          <bdi>{name}</bdi>
        </Link>
        {remote !== null && (
          <span class="badge" title={remote.endpoint}>
            on {remote.name}
          </span>
        )}
      </th>
      <td class="bucket-bindings narrow-hidden">
        {bindings.length === 0 && <span class="soft">no binding</span>}
        {bindings.map((binding) => (
          <code key={binding} class="badge">
            {binding}
          </code>
        ))}
      </td>
      <td class="number">{known ? formatCount(known.objects) : uncounted}</td>
      <td class="number narrow-hidden">{known ? formatBytes(known.bytes) : uncounted}</td>
      <td class="narrow-hidden">
        <Time at={created} />
      </td>
      <td class="number">
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

interface NewBucketDialogProps {
  readonly onClose: () => void;
  readonly onCreated: (bucket: BucketSummary) => void;
}

function NewBucketDialog({ onClose, onCreated }: NewBucketDialogProps) {
  const [name, setName] = useState("");
  const [problem, setProblem] = useState<string>();
  const [isSending, setSending] = useState(false);
  const create = (): void => {
    if (name === "") {
      setProblem("Enter a name.");
      return;
    }
    setSending(true);
    callApi<BucketSummary>("/api/buckets", { method: "POST", json: { name } }).then(
      onCreated,
      (error: ApiCallError) => {
        setProblem(error.message);
        setSending(false);
      },
    );
  };
  return (
    <Dialog title="New bucket" onClose={onClose}>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          create();
        }}
      >
        <div class="field">
          <label for="bucket-name">Name</label>
          <input
            id="bucket-name"
            class="input code"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            value={name}
            aria-describedby="bucket-name-hint"
            aria-invalid={problem !== undefined}
            onInput={(event) => {
              setProblem(undefined);
              setName(event.currentTarget.value);
            }}
          />
          <p id="bucket-name-hint" class="field-hint">
            3 to 63 lower-case letters, digits and hyphens, with a letter or a digit at both ends.
          </p>
          <p class="field-problem" role="alert">
            {problem}
          </p>
        </div>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={isSending}>
            Create
          </button>
        </div>
      </form>
    </Dialog>
  );
}
