/**
 * A bucket for a command: the reason of a refusal is a sentence for people, and content of any size
 * comes from files and goes to them.
 */
import { UserError } from "../../base/user-error.ts";
import {
  requiredAlgorithms,
  type ChecksumAlgorithm,
  type ExpectedChecksum,
  type UploadChecksum,
} from "../core/checksum.ts";
import { ConnectionLostError } from "../core/fault.ts";
import { StoreError } from "../core/errors.ts";
import { listLimitMax, uploadBytesMax } from "../core/limits.ts";
import type { PartReference } from "../core/multipart.ts";
import { decodeObject, decodeObjects, allChecksums } from "../core/object.ts";
import type {
  Content,
  ObjectDescription,
  DescribedObject,
  ObjectRecord,
  Request,
  Result,
  StorageClass,
  UploadReference,
} from "../core/operations.ts";
import {
  chunksOf,
  type BucketMethod,
  type ClientBucket,
  type FoundObject,
} from "./client-bucket.ts";
import { largePartBytes, type FileContent } from "./file-content.ts";
import { RemoteUnusableError } from "./remote-client-bucket.ts";

export interface ListPage {
  readonly objects: readonly DescribedObject[];
  readonly prefixes: readonly string[];
}

/** An object and its content. A chunk of the content is valid until the next one is requested. */
export interface FetchedObject {
  readonly object: DescribedObject;
  readonly content: Uint8Array | AsyncIterable<Uint8Array>;
}

export type NewObject = ObjectDescription & {
  readonly key: string;
  /** The hash that the content must have. The object stores it. */
  readonly checksum?: ExpectedChecksum;
};

/** How the content of an object was stored that is to be restored. */
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

interface CopyRequest {
  readonly key: string;
  readonly from: { readonly bucket: CommandBucket; readonly key: string };
  /** Default: that of the source. */
  readonly storageClass?: StorageClass;
  /** Called with the size of the object and the number of bytes that were transferred; it may go back. */
  readonly onBytes?: (count: number, size: number) => void;
}

export class CommandBucket {
  readonly name: string;
  /** The bucket whose content this process reads and writes. */
  readonly stored: ClientBucket;

  constructor(stored: ClientBucket) {
    this.name = stored.name;
    this.stored = stored;
  }

  /** @throws UserError with the reason of the bucket when the bucket refuses the operation */
  call<M extends BucketMethod>(request: Request<M>): Promise<Result<M>> {
    return asUserError(this.stored.call(request));
  }

  async head(key: string): Promise<DescribedObject | null> {
    const text = await this.call({ method: "head", key });
    return text === null ? null : decodeObject(key, text);
  }

  /** All objects in the order of their keys, in pages. */
  async *list(options: { prefix?: string; delimiter?: string } = {}): AsyncGenerator<ListPage> {
    let cursor: string | undefined;
    do {
      const page = await this.call({
        method: "list",
        prefix: options.prefix ?? "",
        delimiter: options.delimiter ?? "",
        limit: listLimitMax,
        includeHttp: true,
        includeCustom: true,
        ...(cursor !== undefined && { cursor }),
      });
      cursor = page.cursor;
      const objects = decodeObjects(page.objectsJson, { http: true, custom: true });
      yield { objects: objects as DescribedObject[], prefixes: page.prefixes };
    } while (cursor !== undefined);
  }

  /** @param onBytes is called with the number of bytes that have been sent; it may go back */
  async put(
    { checksum, ...object }: NewObject,
    file: FileContent,
    onBytes?: (count: number) => void,
  ): Promise<ObjectRecord> {
    const algorithms = requiredAlgorithms(checksum);
    const write = async (start: number, length: number) => {
      const isFollowed = this.stored.follow !== undefined;
      const stream = file.stream(start, length, isFollowed ? undefined : onBytes);
      const content = await asUserError(this.stored.write(stream, { algorithms }));
      this.stored.follow?.(content, (count) => onBytes?.(start + count));
      return content;
    };
    if (file.size > uploadBytesMax) {
      return this.putParts(object, undefined, (reference) =>
        this.#putRanges(reference, file.parts(largePartBytes), write),
      );
    }
    const content = await write(0, file.size);
    const text = await this.call({
      method: "put",
      ...object,
      ...(checksum !== undefined && { checksum }),
      content,
    });
    // A put without a condition never returns `null`.
    return decodeObject(object.key, text as string);
  }

  /** `put`, with the checksums and the parts that the object had when it was exported. */
  async restore(
    object: ObjectDescription & { readonly key: string },
    file: FileContent,
    { algorithms, upload }: StoredForm,
  ): Promise<ObjectRecord> {
    const write = (start: number, length: number) =>
      asUserError(this.stored.write(file.stream(start, length), { algorithms }));
    if (upload === undefined) {
      const content = await write(0, file.size);
      const text = await this.call({ method: "put", ...object, content });
      // A put without a condition never returns `null`.
      return decodeObject(object.key, text as string);
    }
    const { partBytes, checksum, ...uploadChecksum } = upload;
    return this.putParts({ ...object, ...uploadChecksum }, checksum, (reference) =>
      this.#putRanges(reference, file.parts(partBytes), write),
    );
  }

  /**
   * Passes an object and its content to `receive`. Returns `null` when the object does not exist.
   *
   * @throws UserError when the content cannot be read
   */
  async get<Received>(
    key: string,
    receive: (fetched: FetchedObject) => Promise<Received>,
  ): Promise<Received | null> {
    const opened = await asUserError(this.stored.get({ key }));
    if (opened?.status !== "found") return null;
    const { object, content } = opened;
    try {
      const shown = content instanceof Uint8Array ? content : chunksOf(content);
      return await asUserError(receive({ object, content: shown }));
    } finally {
      if (!(content instanceof Uint8Array)) content.close();
    }
  }

  /** The size of the first part of an object, if the object has this version. */
  async firstPartBytes({ key, version }: ObjectRecord): Promise<number | null> {
    const opened = await asUserError(this.stored.get({ key, partNumber: 1 }));
    if (opened?.status !== "found") return null;
    if (!(opened.content instanceof Uint8Array)) opened.content.close();
    return opened.object.version === version ? opened.range.length : null;
  }

  /**
   * Copies an object into this bucket. The copy has checksums of the same kinds as its source, of its
   * whole content. Returns `null` when the source does not exist.
   */
  async copy({ key, from, storageClass, onBytes }: CopyRequest): Promise<ObjectRecord | null> {
    const { stored: bucket } = from.bucket;
    const opened = await asUserError(bucket.get({ key: from.key }));
    if (opened?.status !== "found") return null;
    const { object } = opened;
    const onCount = (count: number) => onBytes?.(count, object.size);
    try {
      const algorithms = Object.keys(allChecksums(object)) as ChecksumAlgorithm[];
      // Only the content of a remote bucket is read in any case: a local file may be copied at once.
      const source = bucket.follow === undefined ? opened : counted(opened, onCount);
      const content = await asUserError(this.stored.copy({ bucket, opened: source }, algorithms));
      this.stored.follow?.(content, onCount);
      const text = await this.call({
        method: "put",
        key,
        http: object.http,
        custom: object.custom,
        storageClass: storageClass ?? object.storageClass,
        ...(object.ssecKeyMd5 !== undefined && { ssecKeyMd5: object.ssecKeyMd5 }),
        content,
      });
      // A put without a condition never returns `null`.
      return decodeObject(key, text as string);
    } finally {
      if (!(opened.content instanceof Uint8Array)) opened.content.close();
    }
  }

  /** Stores an object in parts. On failure the upload is aborted. */
  protected async putParts(
    object: Omit<Request<"createUpload">, "method">,
    checksum: ExpectedChecksum | undefined,
    upload: (reference: UploadReference) => Promise<PartReference[]>,
  ): Promise<ObjectRecord> {
    const { key } = object;
    const { uploadId } = await this.call({ method: "createUpload", ...object });
    try {
      const parts = await upload({ key, uploadId });
      const text = await this.call({
        method: "completeUpload",
        key,
        uploadId,
        parts,
        ...(checksum !== undefined && { checksum }),
      });
      return decodeObject(key, text);
    } catch (error) {
      await this.call({ method: "abortUpload", key, uploadId }).catch(() => {});
      throw error;
    }
  }

  /** Uploads ranges of a file as the parts of an upload, one after the other. */
  async #putRanges(
    reference: UploadReference,
    ranges: Iterable<{ readonly start: number; readonly length: number }>,
    write: (start: number, length: number) => Promise<Content>,
  ): Promise<PartReference[]> {
    const parts: PartReference[] = [];
    for (const { start, length } of ranges) {
      const content = await write(start, length);
      const part = { ...reference, partNumber: parts.length + 1, content };
      parts.push(await this.call({ method: "uploadPart", ...part }));
    }
    return parts;
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
    if (error instanceof RemoteUnusableError) throw new UserError(error.message, { cause: error });
    if (!(error instanceof StoreError)) throw error;
    throw new UserError(`${error.message} (${error.code})`, { cause: error });
  }
}
