/** Buckets: their names, their sizes, and the buckets that the page makes and deletes. */
import * as v from "valibot";
import { StoreError } from "../../../store/core/errors.ts";
import type { BucketStatistics, BucketSummary } from "../../api/buckets.ts";
import { requireBucket } from "../bucket-access.ts";
import { CallError, json, type ExplorerResponse, readInput } from "../call.ts";
import type { ExplorerCall, Route, ExplorerContext } from "../context.ts";
import type { Bucket } from "../../../store/node/bucket.ts";

const newBucketSchema = v.object({ name: v.string("must be text") });

async function list({ context }: ExplorerCall): Promise<ExplorerResponse> {
  return json(await summaries(context));
}

async function create(call: ExplorerCall): Promise<ExplorerResponse> {
  const { context } = call;
  const { name } = await readInput(call, newBucketSchema);
  if ((await context.store.find(name)) !== null) {
    throw new CallError(409, `A bucket "${name}" exists already. Choose another name.`);
  }
  try {
    await context.store.create(name);
  } catch (error) {
    throw isStoreError(error, 10005)
      ? new CallError(
          400,
          `"${name}" cannot be the name of a bucket. A name has 3 to 63 lower-case letters, digits ` +
            "and hyphens, with a letter or a digit at both ends.",
          10005,
        )
      : error;
  }
  return json(await summary(context, name), 201);
}

async function describe(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const [described, counts] = await Promise.all([
    summary(call.context, bucket.name),
    countObjects(bucket, call.signal),
  ]);
  return json({ ...described, ...counts } satisfies BucketStatistics);
}

async function remove(call: ExplorerCall): Promise<ExplorerResponse> {
  const { name } = await requireBucket(call);
  try {
    await call.context.store.delete(name);
  } catch (error) {
    throw isStoreError(error, 10008)
      ? new CallError(
          409,
          `The bucket "${name}" is not empty. Delete its objects and abort its uploads first.`,
          10008,
        )
      : error;
  }
  return { status: 200, headers: {} };
}

async function summaries({ store, bindings }: ExplorerContext): Promise<BucketSummary[]> {
  const names = bindings();
  const records = await store.list();
  return Promise.all(
    records.map(async ({ name, created }) => {
      const { isDeletable = false, place } = (await store.find(name)) ?? {};
      return {
        name,
        bindings: names.get(name) ?? [],
        created,
        isDeletable,
        remote: place === undefined ? null : { name: place.remote, endpoint: place.endpoint },
      };
    }),
  );
}

async function summary(context: ExplorerContext, name: string): Promise<BucketSummary> {
  const found = (await summaries(context)).find((bucket) => bucket.name === name);
  if (found === undefined) throw new CallError(404, `The bucket "${name}" was deleted.`, 10006);
  return found;
}

function isStoreError(error: unknown, code: number): boolean {
  return error instanceof StoreError && error.code === code;
}

export const bucketRoutes: readonly Route[] = [
  { method: "GET", path: "/api/buckets", handle: list },
  { method: "POST", path: "/api/buckets", handle: create },
  { method: "GET", path: "/api/buckets/:bucket", handle: describe },
  { method: "DELETE", path: "/api/buckets/:bucket", handle: remove },
];

/** A step takes about 4 ms, during which the bucket answers no other call. */
const stepObjects = 5000;

/**
 * The numbers of a bucket, counted in steps: calls of scripts are executed between the steps.
 *
 * @param signal ends the count, when the page does not need it any more
 */
export async function countObjects(
  bucket: Pick<Bucket, "call">,
  signal: AbortSignal,
): Promise<Pick<BucketStatistics, "objects" | "bytes" | "uploads">> {
  let [objects, bytes] = [0, 0];
  let after: string | undefined;
  for (;;) {
    signal.throwIfAborted();
    const step = await bucket.call({
      method: "stats",
      limit: stepObjects,
      ...(after !== undefined && { after }),
    });
    objects += step.objects;
    bytes += step.bytes;
    if (step.next === undefined) return { objects, bytes, uploads: step.uploads };
    after = step.next;
  }
}
