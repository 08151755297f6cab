/**
 * Buckets, and the uploads in parts that scripts and S3 clients have begun in them. Also finds the bucket and
 * the key that a call names, and says what is wrong with a name.
 */
import * as v from "valibot";
import { StoreError } from "../../store/core/errors.ts";
import { explainRefusal, type RefusedOperation } from "../../store/core/explain-refusal.ts";
import { validateKey } from "../../store/core/key.ts";
import { listLimitMax } from "../../store/core/limits.ts";
import { earlierExpiry, uploadDeadline } from "../../store/core/multipart.ts";
import type { UploadPosition } from "../../store/core/operations.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import type { StoreClient } from "../../store/node/store-client.ts";
import type { Change } from "../api/activity.ts";
import type { BucketStatistics, BucketSummary, UploadPage } from "../api/buckets.ts";
import {
  CallError,
  json,
  readInput,
  requireParameter,
  type ExplorerCall,
  type ExplorerContext,
  type ExplorerResponse,
  type Route,
} from "./call.ts";

/** More names would hide the sentence. */
const shownNamesMax = 20;

/** The bucket that the path names. */
export function requireBucket({ context, parameters }: ExplorerCall): Promise<Bucket> {
  return findBucket(context.store, parameters["bucket"] as string);
}

/** @throws CallError with the names of the buckets that exist */
export async function findBucket(store: StoreClient, name: string): Promise<Bucket> {
  const found = await store.find(name);
  if (found !== null) return found;
  const names = (await store.list()).map((bucket) => `"${bucket.name}"`);
  const shown = names.slice(0, shownNamesMax).join(", ");
  const others = names.length > shownNamesMax ? `, and ${names.length - shownNamesMax} more` : "";
  throw new CallError(
    404,
    `There is no bucket "${name}". ` +
      (names.length === 0
        ? "The project has no buckets: create a bucket first."
        : `The buckets are ${shown}${others}.`),
    10006,
  );
}

/**
 * The key that the query names.
 *
 * @throws CallError for a key that no object can have
 */
export function requireKey(call: ExplorerCall): string {
  const key = requireParameter(call, "key");
  checkKey(key);
  return key;
}

/** @throws CallError for a key that no object can have */
export function checkKey(key: string): void {
  try {
    validateKey(key);
  } catch (error) {
    throw explained(error, { key });
  }
}

/**
 * An error of the store with the reason behind its text, which is the deployed service's and short.
 * Other errors stay as they are.
 */
export function explained(error: unknown, operation: RefusedOperation): unknown {
  if (!(error instanceof StoreError)) return error;
  const reason = explainRefusal(operation, error);
  if (reason === null) return error;
  return new CallError(error.status, `${error.message} ${reason}`, error.code);
}

export function objectMissing(bucket: string, key: string): CallError {
  return new CallError(
    404,
    `The bucket "${bucket}" has no object ${quoted(key)}. The object may have been deleted or moved.`,
  );
}

/** A key in a sentence. Keys can be long. */
export function quoted(key: string): string {
  const charactersMax = 100;
  return `"${key.length > charactersMax ? `${key.slice(0, charactersMax)}…` : key}"`;
}

/** What the explorer may have changed in a bucket that is on an S3 service: the owner does not see it. */
export function remoteChanges({ name, place }: Bucket): Change[] {
  if (place === undefined) return [];
  return [
    { topic: "objects", bucket: name },
    { topic: "uploads", bucket: name },
  ];
}

async function create(call: ExplorerCall): Promise<ExplorerResponse> {
  const { context } = call;
  const { name } = await readInput(call, v.object({ name: v.string("must be text") }));
  if ((await context.store.find(name)) !== null) {
    throw new CallError(409, `A bucket "${name}" exists already. Choose another name.`);
  }
  await refusedAs(context.store.create(name), 10005, [
    400,
    `"${name}" cannot be the name of a bucket. A name has 3 to 63 lower-case letters, digits ` +
      "and hyphens, with a letter or a digit at both ends.",
  ]);
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
  await refusedAs(call.context.store.delete(name), 10008, [
    409,
    `The bucket "${name}" is not empty. Delete its objects and abort its uploads first.`,
  ]);
  return { status: 200, headers: {} };
}

/** Says a refusal of the store in words of the explorer. */
async function refusedAs(
  call: Promise<unknown>,
  code: number,
  [status, message]: [number, string],
): Promise<void> {
  await call.catch((error: unknown) => {
    const isRefusal = error instanceof StoreError && error.code === code;
    throw isRefusal ? new CallError(status, message, code) : error;
  });
}

async function summaries({ store, bindings }: ExplorerContext): Promise<BucketSummary[]> {
  const names = bindings();
  return Promise.all(
    (await store.list()).map(async ({ name, created }) => {
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
    const place = after === undefined ? {} : { after };
    const step = await bucket.call({ method: "stats", limit: stepObjects, ...place });
    objects += step.objects;
    bytes += step.bytes;
    if (step.next === undefined) return { objects, bytes, uploads: step.uploads };
    after = step.next;
  }
}

/** With the time that the uploads have left. */
async function listUploads(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const cursor = call.query.get("cursor") ?? "";
  const [{ uploads, next }, { lifecycle }, now] = await Promise.all([
    bucket.call({
      method: "listUploads",
      prefix: call.query.get("prefix") ?? "",
      limit: listLimitMax,
      ...(cursor !== "" && { after: decodeUploadCursor(cursor) }),
    }),
    bucket.call({ method: "getSettings" }),
    call.context.storeTime(),
  ]);
  const rules = lifecycle?.abortRules ?? [];
  return json({
    uploads: uploads.map(({ key, uploadId, created }) => ({
      key,
      uploadId,
      created,
      expires: uploadDeadline(created) - earlierExpiry(key, rules),
    })),
    cursor: next === undefined ? null : encodeUploadCursor(next),
    now,
  } satisfies UploadPage);
}

async function abortUpload(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const upload = { key: requireKey(call), uploadId: call.parameters["uploadId"] as string };
  await bucket.call({ method: "abortUpload", ...upload }).catch((error: unknown) => {
    throw explained(error, upload);
  });
  return { status: 200, headers: {} };
}

/** Where a page of uploads begins, as text for the page. */
export function encodeUploadCursor({ key, uploadId }: UploadPosition): string {
  return Buffer.from(JSON.stringify([key, uploadId ?? null])).toString("base64url");
}

/** @throws CallError for text that is no cursor */
export function decodeUploadCursor(cursor: string): UploadPosition {
  try {
    const text = Buffer.from(cursor, "base64url").toString("utf8");
    const position = v.tuple([v.string(), v.nullable(v.string())]);
    const [key, uploadId] = v.parse(position, JSON.parse(text));
    return uploadId === null ? { key } : { key, uploadId };
  } catch {
    throw new CallError(
      400,
      "The cursor is not valid: pass the cursor of the previous page as it is.",
    );
  }
}

export const bucketRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/buckets",
    handle: async ({ context }) => json(await summaries(context)),
  },
  { method: "POST", path: "/api/buckets", handle: create },
  { method: "GET", path: "/api/buckets/:bucket", handle: describe },
  { method: "DELETE", path: "/api/buckets/:bucket", handle: remove },
  { method: "GET", path: "/api/buckets/:bucket/uploads", handle: listUploads },
  { method: "DELETE", path: "/api/buckets/:bucket/uploads/:uploadId", handle: abortUpload },
];
