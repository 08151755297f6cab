/** Finds the bucket and the object that a call names, and says what is wrong with a name. */
import { StoreError } from "../../store/core/errors.ts";
import { explainRefusal, type RefusedOperation } from "../../store/core/explain-refusal.ts";
import { validateKey } from "../../store/core/key.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import type { StoreClient } from "../../store/node/store-client.ts";
import type { Change } from "../api/activity.ts";
import { CallError, requireParameter, type ExplorerRequest } from "./call.ts";
import type { DescribedObject, ObjectRecord } from "../../store/core/operations.ts";
import { allChecksums } from "../../store/core/object.ts";
import type { ListedObject, ObjectDetails } from "../api/buckets.ts";

interface StoreRequest extends ExplorerRequest {
  readonly context: { readonly store: StoreClient };
}

/** More names would hide the sentence. */
const shownNamesMax = 20;

/** The bucket that the path names. */
export function requireBucket({ context, parameters }: StoreRequest): Promise<Bucket> {
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
export function requireKey(call: ExplorerRequest): string {
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
  const reason = explainRefusal(operation, error.code);
  if (reason === null) return error;
  return new CallError(error.status, `${error.message} ${reason}`, error.code);
}

export function objectMissing(bucket: string, key: string): CallError {
  return new CallError(
    404,
    `The bucket "${bucket}" has no object ${quoted(key)}. The object may have been deleted or moved.`,
  );
}

export function objectExists(key: string): CallError {
  return new CallError(
    412,
    `An object ${quoted(key)} exists already. Choose another key, or allow the object to be replaced.`,
    10031,
  );
}

/** A key in a sentence. Keys can be long. */
export function quoted(key: string): string {
  const charactersMax = 100;
  return `"${key.length > charactersMax ? `${key.slice(0, charactersMax)}…` : key}"`;
}

/**
 * `overwrite` of the query: whether an object with the same key may be replaced, which is the
 * default.
 */
export function mayOverwrite({ query }: ExplorerRequest): boolean {
  const text = query.get("overwrite") ?? "true";
  if (text === "true" || text === "false") return text === "true";
  throw new CallError(400, `"overwrite" must be true or false, not "${text}".`);
}

/** What the explorer may have changed in a bucket that is on an S3 service: the owner does not see it. */
export function remoteChanges({ name, place }: Bucket): Change[] {
  if (place === undefined) return [];
  return [
    { topic: "objects", bucket: name },
    { topic: "uploads", bucket: name },
  ];
}

/** An object of the store in the words of the explorer's API. */

export function listedObject(object: ObjectRecord): ListedObject {
  const { key, size, etag, uploaded, storageClass, http } = object;
  return { key, size, etag, uploaded, storageClass, contentType: http?.contentType ?? null };
}

export function objectDetails(object: DescribedObject): ObjectDetails {
  return {
    ...listedObject(object),
    version: object.version,
    httpMetadata: object.http,
    customMetadata: object.custom,
    checksums: allChecksums(object),
    hasCustomerKey: object.ssecKeyMd5 !== undefined,
  };
}
