/**
 * A bucket in memory: a second, independent implementation of the specification.
 *
 * The model shares no code with `src/store`, so the two can disagree. It is simple rather than
 * fast: objects and uploads are in a `Map`, and every call is one atomic step.
 *
 * Versions and upload ids, which the specification leaves open, are counters, and the clock is a
 * number that each write increases by a millisecond. {@link file://./normalise.ts} makes the
 * outcomes of other implementations comparable.
 */
import type { AnyObject, AnyObjectBody, AnyPage } from "./describe.ts";
import type { AnyBucket, AnyUpload } from "./execute.ts";
import { ModelUpload, type Upload } from "./model-upload.ts";
import {
  checkKey,
  checkValue,
  readOptions,
  readString,
  readValue,
  stringOf,
} from "./rules/arguments.ts";
import { checkChecksum, readChecksum, type Checksums } from "./rules/checksum.ts";
import { holds, readConditional } from "./rules/conditional.ts";
import { parameterError, storeError } from "./rules/errors.ts";
import { pageOf, readListing } from "./rules/listing.ts";
import {
  checkMetadataSize,
  readHttpMetadata,
  readMetadata,
  writeHeaders,
  type HttpMetadata,
  type Metadata,
} from "./rules/metadata.ts";
import { readRange, spanOf, type Span } from "./rules/range.ts";

/** The store keeps values up to this size in the database, and larger values in files. */
const inlineSizeBytesMax = 128 * 1024;
const deleteKeysMax = 1000;

/** An object of the model. `chunks` has one element, or one element for each part. */
export interface Stored {
  readonly key: string;
  readonly version: string;
  readonly etag: string;
  readonly uploaded: number;
  readonly metadata: Metadata;
  readonly checksums: Checksums;
  readonly storageClass: string;
  readonly chunks: readonly Uint8Array<ArrayBuffer>[];
}

export class ModelBucket implements AnyBucket {
  readonly objects = new Map<string, Stored>();
  readonly uploads = new Map<string, Upload>();
  readonly #trailingDelimiter: boolean;
  #now = Date.UTC(2026, 0, 1);
  #count = 0;

  constructor({ trailingDelimiter }: { trailingDelimiter: boolean }) {
    this.#trailingDelimiter = trailingDelimiter;
  }

  async head(...args: unknown[]): Promise<AnyObject | null> {
    const key = readString(args, { method: "head", position: 1 });
    checkKey(key, "head");
    const stored = this.objects.get(key);
    return stored === undefined ? null : objectOf(stored, { range: wholeOf(stored) });
  }

  async get(...args: unknown[]): Promise<AnyObject | AnyObjectBody | null> {
    const key = readString(args, { method: "get", position: 1 });
    const options = readOptions(args[1], { method: "get", position: 2, type: "GetOptions" });
    const conditional = readConditional(options["onlyIf"], "GetOptions");
    const requested = readRange(options["range"]);
    const override = readHttpMetadata(options["httpMetadata"], "GetOptions");
    checkKey(key, "get");
    const stored = this.objects.get(key);
    if (stored === undefined) return null;
    if (!holds(conditional, stored)) return objectOf(stored, { range: wholeOf(stored), override });
    const range = spanOf(requested, sizeOf(stored));
    return bodyOf(stored, { range, override });
  }

  async put(...args: unknown[]): Promise<AnyObject | null> {
    const key = readString(args, { method: "put", position: 1 });
    const [, value, given] = args;
    // A missing value is refused; `undefined` and `null` are empty values.
    const empty = args.length >= 2 && (value === undefined || value === null);
    if (!empty) checkValue(value, { method: "put", position: 2 });
    const options = readOptions(given, { method: "put", position: 3, type: "PutOptions" });
    const conditional = readConditional(options["onlyIf"], "PutOptions");
    const metadata = readMetadata(options, "PutOptions");
    const checksum = readChecksum(options);
    const storageClass = readStorageClass(options["storageClass"]);
    checkKey(key, "put");
    checkMetadataSize(metadata, "put");
    const bytes = empty ? new Uint8Array() : await readValue(value);
    const checksums = checkChecksum(checksum, bytes);
    if (!holds(conditional, this.objects.get(key))) return null;
    const etag = checksums.md5 ?? "";
    return this.store({ key, etag, metadata, checksums, storageClass, chunks: [bytes.slice()] });
  }

  async delete(...args: unknown[]): Promise<void> {
    if (args.length === 0) {
      throw parameterError("delete", { position: 1, type: "string or Array" });
    }
    const keys = Array.isArray(args[0]) ? args[0].map(stringOf) : [stringOf(args[0])];
    if (keys.length < 1 || keys.length > deleteKeysMax) throw storeError("delete", 10027);
    for (const key of keys) checkKey(key, "delete");
    for (const key of keys) this.objects.delete(key);
  }

  async list(...args: unknown[]): Promise<AnyPage> {
    const type = "ListOptions";
    const listing = readListing(readOptions(args[0], { method: "list", position: 1, type }));
    const page = pageOf(this.objects.keys(), listing);
    const shorten = this.#trailingDelimiter ? 0 : listing.delimiter.length;
    return {
      objects: page.keys.map((key) => {
        const stored = this.objects.get(key);
        if (stored === undefined) throw new Error(`The model has no object "${key}"`);
        return objectOf(stored, { include: listing.include });
      }),
      delimitedPrefixes: page.groups.map((group) => group.slice(0, group.length - shorten)),
      truncated: page.next !== undefined,
      ...(page.next && { cursor: JSON.stringify(page.next) }),
    };
  }

  async createMultipartUpload(...args: unknown[]): Promise<AnyUpload> {
    const method = "createMultipartUpload";
    const key = readString(args, { method, position: 1 });
    const options = readOptions(args[1], { method, position: 2, type: "MultipartOptions" });
    const metadata = readMetadata(options, "MultipartOptions");
    const storageClass = readStorageClass(options["storageClass"]);
    checkKey(key, method);
    checkMetadataSize(metadata, method);
    const uploadId = `upload-${++this.#count}`;
    this.uploads.set(uploadId, { key, metadata, storageClass, parts: new Map(), ended: false });
    return new ModelUpload(this, { key, uploadId });
  }

  resumeMultipartUpload(...args: unknown[]): AnyUpload {
    const method = "resumeMultipartUpload";
    const key = readString(args, { method, position: 1 });
    const uploadId = readString(args, { method, position: 2 });
    return new ModelUpload(this, { key, uploadId });
  }

  /** Stores an object under its key with a new version. */
  store(content: Omit<Stored, "version" | "uploaded">): AnyObject {
    const stored = { ...content, version: `version-${++this.#count}`, uploaded: ++this.#now };
    this.objects.set(stored.key, stored);
    return objectOf(stored, {});
  }

  /** The number of readable values that are too large for the database. */
  countLargeValues(): number {
    const chunks = [
      ...[...this.objects.values()].flatMap((stored) => stored.chunks),
      ...[...this.uploads.values()].flatMap((upload) =>
        [...upload.parts.values()].map((part) => part.bytes),
      ),
    ];
    return chunks.filter((chunk) => chunk.length > inlineSizeBytesMax).length;
  }
}

function readStorageClass(value: unknown): string {
  return value === undefined ? "Standard" : stringOf(value);
}

function sizeOf({ chunks }: Stored): number {
  return chunks.reduce((sum, chunk) => sum + chunk.length, 0);
}

function wholeOf(stored: Stored): Span {
  return { offset: 0, length: sizeOf(stored) };
}

function objectOf(
  stored: Stored,
  shown: { range?: Span; override?: HttpMetadata; include?: ReadonlySet<string> },
): AnyObject {
  const { key, version, etag, uploaded, metadata, checksums, storageClass } = stored;
  const { range, override, include } = shown;
  const http =
    include?.has("httpMetadata") === false ? undefined : { ...metadata.http, ...override };
  const custom = include?.has("customMetadata") === false ? undefined : metadata.custom;
  return {
    key,
    version,
    size: sizeOf(stored),
    etag,
    httpEtag: `"${etag}"`,
    uploaded: new Date(uploaded),
    httpMetadata: http,
    customMetadata: custom,
    range,
    checksums: { toJSON: () => ({ ...checksums }) },
    storageClass,
    writeHttpMetadata(headers) {
      if (http === undefined) {
        throw new TypeError(
          `HTTP metadata unknown for key \`${key}\`. Did you forget to add 'httpMetadata' to \`include\` when listing?`,
        );
      }
      writeHeaders(http, headers);
    },
  };
}

function bodyOf(
  stored: Stored,
  { range, override }: { range: Span; override: HttpMetadata },
): AnyObjectBody {
  const all = Buffer.concat(stored.chunks);
  const bytes = new Uint8Array(all.subarray(range.offset, range.offset + range.length));
  const object = objectOf(stored, { range, override });
  // Node's Response reads the body: the rules for used bodies are the same everywhere.
  const response = new Response(bytes, {
    headers: { "content-type": String(object.httpMetadata?.["contentType"] ?? "") },
  });
  return Object.assign(response, object) as unknown as AnyObjectBody;
}
