/** What commands do with the objects of any bucket: content of any size comes from files and goes to them. */
import { UserError } from "../../base/user-error.ts";
import { damagedText } from "../client/failure.ts";
import { BlobDamagedError } from "../core/content.ts";
import type { ChecksumAlgorithm, ExpectedChecksum, UploadChecksum } from "../core/checksum.ts";
import { ConnectionLostError } from "../core/fault.ts";
import { StoreError } from "../core/errors.ts";
import { listLimitMax, uploadBytesMax } from "../core/limits.ts";
import type { PartReference } from "../core/multipart.ts";
import { decodeObject, decodeObjects, allChecksums } from "../core/object.ts";
import type {
  DescribedObject,
  ObjectDescription,
  ObjectRecord,
  Request,
  StorageClass,
} from "../core/operations.ts";
import { chunksOf, closeContent, type Bucket, type FoundObject } from "./bucket.ts";
import { largePartBytes, type FileContent } from "./file-content.ts";
import { RemoteUnusableError } from "./remote-buckets.ts";

export async function headObject(bucket: Bucket, key: string): Promise<DescribedObject | null> {
  const text = await bucket.call({ method: "head", key });
  return text === null ? null : decodeObject(key, text);
}

export interface ListPage {
  readonly objects: readonly DescribedObject[];
  readonly prefixes: readonly string[];
}

export async function* listPages(
  bucket: Bucket,
  { prefix = "", delimiter = "" } = {},
): AsyncGenerator<ListPage> {
  let cursor: string | undefined;
  do {
    const page = await bucket.call({
      method: "list",
      prefix,
      delimiter,
      limit: listLimitMax,
      includeHttp: true,
      includeCustom: true,
      cursor,
    });
    cursor = page.cursor;
    const objects = decodeObjects(page.objectsJson, { http: true, custom: true });
    yield { objects: objects as DescribedObject[], prefixes: page.prefixes };
  } while (cursor !== undefined);
}

export interface StoredForm {
  /** The checksums of the whole content, beside MD5. */
  readonly algorithms: readonly ChecksumAlgorithm[];
  /** Only of an upload in parts. */
  readonly upload?: UploadChecksum & {
    /** The size of each part but the last. */
    readonly partBytes: number;
    /** A checksum that the object must have. */
    readonly checksum?: ExpectedChecksum;
  };
}

/**
 * @param options.form by default one put, or parts for content that is too large for one
 * @param options.onBytes is called with the number of bytes that have been sent; it may go back
 */
export async function putFile(
  bucket: Bucket,
  object: ObjectDescription & { readonly key: string },
  file: FileContent,
  options: { readonly form?: StoredForm; readonly onBytes?: (count: number) => void } = {},
): Promise<ObjectRecord> {
  const { form = { algorithms: [] }, onBytes } = options;
  const write = async (start: number, length: number) => {
    const isFollowed = bucket.follow !== undefined;
    const chunks = file.chunks(start, length, isFollowed ? undefined : onBytes);
    const content = await bucket.write(chunks, { algorithms: form.algorithms });
    bucket.follow?.(content, (count) => onBytes?.(start + count));
    return content;
  };
  const large = file.size > uploadBytesMax ? { partBytes: largePartBytes } : undefined;
  const upload: StoredForm["upload"] = form.upload ?? large;
  if (upload === undefined) {
    return put(bucket, { ...object, content: await write(0, file.size) });
  }
  const { partBytes, checksum, ...uploadChecksum } = upload;
  const { key } = object;
  const create = { method: "createUpload", ...object, ...uploadChecksum } as const;
  const { uploadId } = await bucket.call(create);
  try {
    const parts: PartReference[] = [];
    for (const { start, length } of file.parts(partBytes)) {
      const content = await write(start, length);
      const part = { key, uploadId, partNumber: parts.length + 1, content };
      parts.push(await bucket.call({ method: "uploadPart", ...part }));
    }
    const complete = { method: "completeUpload", key, uploadId, parts, checksum } as const;
    return decodeObject(key, await bucket.call(complete));
  } catch (error) {
    await bucket.call({ method: "abortUpload", key, uploadId }).catch(() => {});
    throw error;
  }
}

async function put(bucket: Bucket, request: Omit<Request<"put">, "method">): Promise<ObjectRecord> {
  const text = await bucket.call({ method: "put", ...request });
  // A put without a condition never returns `null`.
  return decodeObject(request.key, text as string);
}

/** An object and its content. A chunk of the content is valid until the next one is requested. */
export interface FetchedObject {
  readonly object: DescribedObject;
  readonly content: Uint8Array | AsyncIterable<Uint8Array>;
}

export async function fetchObject<Received>(
  bucket: Bucket,
  key: string,
  receive: (fetched: FetchedObject) => Promise<Received>,
): Promise<Received | null> {
  const opened = await bucket.get({ key });
  if (opened?.status !== "found") return null;
  const { object, content } = opened;
  try {
    const shown = content instanceof Uint8Array ? content : chunksOf(content);
    return await receive({ object, content: shown });
  } catch (error) {
    // Files beyond those that a process may keep open are opened late.
    if (!(error instanceof BlobDamagedError)) throw error;
    throw new StoreError(10001, damagedText(key, error));
  } finally {
    closeContent(opened);
  }
}

/** The size of the first part of an object, if the object has this version. */
export async function firstPartBytes(
  bucket: Bucket,
  { key, version }: Pick<ObjectRecord, "key" | "version">,
): Promise<number | null> {
  const opened = await bucket.get({ key, partNumber: 1 });
  if (opened?.status !== "found") return null;
  closeContent(opened);
  return opened.object.version === version ? opened.range.length : null;
}

export interface CopyRequest {
  readonly from: { readonly bucket: Bucket; readonly key: string };
  readonly to: { readonly bucket: Bucket; readonly key: string };
  readonly storageClass?: StorageClass;
  /** Called with the size of the object and the number of bytes that were transferred; it may go back. */
  readonly onBytes?: (count: number, size: number) => void;
}

/**
 * The copy has checksums of the same kinds as its source, of its whole content. Returns the source and its
 * copy; `null` when the source does not exist.
 */
export async function copyAcross({
  from,
  to: { bucket, key },
  storageClass,
  onBytes,
}: CopyRequest): Promise<{ source: DescribedObject; copy: ObjectRecord } | null> {
  const opened = await from.bucket.get({ key: from.key });
  if (opened?.status !== "found") return null;
  const { object } = opened;
  const onCount = (count: number) => onBytes?.(count, object.size);
  try {
    const algorithms = Object.keys(allChecksums(object)) as ChecksumAlgorithm[];
    // Only the content of a remote bucket is read in any case: a local file may be copied at once.
    const source = from.bucket.follow === undefined ? opened : counted(opened, onCount);
    const content = await bucket.copy(source, algorithms);
    bucket.follow?.(content, onCount);
    const { http, custom, ssecKeyMd5 } = object;
    const description = { http, custom, storageClass: storageClass ?? object.storageClass };
    const copy = await put(bucket, {
      key,
      ...description,
      ...(ssecKeyMd5 !== undefined && { ssecKeyMd5 }),
      content,
    });
    return { source: object, copy };
  } finally {
    closeContent(opened);
  }
}

/**
 * Deletes the source of an object that was moved.
 *
 * @returns false when another object has the key by now
 */
export async function deleteMoved(bucket: Bucket, source: DescribedObject): Promise<boolean> {
  const { key, version, etag } = source;
  const found = await headObject(bucket, key);
  if (found === null) return true;
  if (found.version !== version) return false;
  try {
    // The condition holds off what is stored between the two calls.
    const onlyIf = { etagMatches: [{ kind: "strong" as const, value: etag }] };
    await bucket.call({ method: "delete", keys: [key], onlyIf });
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.code === 10031) return false;
    throw error;
  }
}

/** The object, with content that tells how much of it was read. */
function counted(opened: FoundObject, onBytes: (count: number) => void): FoundObject {
  const { content } = opened;
  if (content instanceof Uint8Array) return opened;
  const chunks = async function* () {
    let count = 0;
    for await (const chunk of content.chunks()) {
      onBytes((count += chunk.length));
      yield chunk;
    }
  };
  return { ...opened, content: { chunks, close: () => content.close() } };
}

/** A command shows the reason of the store, with its code. */
export async function asUserError<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ConnectionLostError) throw new UserError(error.message, { cause: error });
    if (!(error instanceof StoreError)) throw error;
    const { message, code, failure } = error;
    const marks = [
      ...(error instanceof RemoteUnusableError ? [] : [code]),
      // The operator of the service finds the request in its log.
      ...(failure?.requestId === undefined ? [] : [`request ${failure.requestId}`]),
    ];
    const text = marks.length === 0 ? message : `${message} (${marks.join(", ")})`;
    throw new UserError(text, { cause: error });
  }
}
