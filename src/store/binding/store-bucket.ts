/**
 * `env.<binding>`: a bucket as scripts see it, in the script's isolate.
 *
 * The methods turn arguments into operations, a `BucketCalls` executes the operations, and the
 * results become the classes of the interface (`types/store.ts`).
 */
import type { BucketCalls, GetRequest, PutRequest, OpenedObject } from "../client/bucket-calls.ts";
import { keyDifference, type HttpMetadata } from "../core/metadata.ts";
import { bindingMessage } from "../core/errors.ts";
import { presentPrefix } from "../core/list-page.ts";
import { decodeObject, decodeObjects } from "../core/object.ts";
import { listLimitMax } from "../core/limits.ts";
import type { ByteRange } from "../core/byte-range.ts";
import type {
  ListRequest,
  ObjectRecord,
  BucketSettings,
  UploadReference,
} from "../core/operations.ts";
import type * as types from "../../types/store.ts";
import {
  elementError,
  fieldError,
  requireArguments,
  textField,
  toInteger,
  toOptions,
  toText,
  invoke,
  requireOwner,
  argumentError,
  isObject,
} from "./arguments.ts";
import {
  conditionalOption,
  customerKeyOption,
  descriptionOptions,
  httpMetadataOption,
  putOptions,
  rangeOption,
  toValue,
  valueTypes,
} from "./options.ts";
import { ListedChecksums, StoreObject, StoreObjectBody } from "./store-object.ts";
import { validatePartNumber, type PartReference } from "../core/multipart.ts";

export class StoreBucket implements types.StoreBucket {
  readonly #bucket: BucketCalls;
  readonly #settings: BucketSettings;

  constructor(bucket: BucketCalls, settings: BucketSettings) {
    this.#bucket = bucket;
    this.#settings = settings;
  }

  head(key: string): Promise<StoreObject | null> {
    const given = arguments;
    return invoke(StoreBucket.#require(this).#settings, () => {
      requireArguments(given, "StoreBucket.head", ["string"]);
      const name = toText(key);
      return this.#bucket.call({ method: "head", key: name }, (text) => {
        if (text === null) return null;
        const record = decodeObject(name, text);
        return new StoreObject(record, wholeRange(record));
      });
    });
  }

  get(
    key: string,
    options: types.StoreGetOptions & { onlyIf: types.StoreConditional | Headers },
  ): Promise<StoreObjectBody | StoreObject | null>;
  get(key: string, options?: types.StoreGetOptions): Promise<StoreObjectBody | null>;
  get(key: string, options?: types.StoreGetOptions): Promise<StoreObjectBody | StoreObject | null> {
    const given = arguments;
    return invoke(StoreBucket.#require(this).#settings, () => {
      const method = "StoreBucket.get";
      requireArguments(given, method, ["string"]);
      const name = toText(key);
      if (options === undefined) return this.#get({ key: name });
      const fields = toOptions(options, method, 2, "GetOptions");
      const onlyIf = conditionalOption(fields, "GetOptions");
      const range = rangeOption(fields);
      const { ssecKeyMd5 } = customerKeyOption(fields);
      const overrides = httpMetadataOption(fields, "GetOptions");
      return this.#get({ key: name, onlyIf, range }, ssecKeyMd5, overrides);
    });
  }

  put(
    key: string,
    value: types.StoreValue | null,
    options: types.StorePutOptions & { onlyIf: types.StoreConditional | Headers },
  ): Promise<StoreObject | null>;
  put(
    key: string,
    value: types.StoreValue | null,
    options?: types.StorePutOptions,
  ): Promise<StoreObject>;
  put(
    key: string,
    value: types.StoreValue | null,
    options?: types.StorePutOptions,
  ): Promise<StoreObject | null> {
    const given = arguments;
    return invoke(StoreBucket.#require(this).#settings, () => {
      const method = "StoreBucket.put";
      requireArguments(given, method, ["string", valueTypes]);
      const name = toText(key);
      try {
        // The platform checks the options before the value.
        const described =
          options === undefined
            ? { http: {}, custom: {}, storageClass: this.#settings.storageClass }
            : putOptions(toOptions(options, method, 3, "PutOptions"), this.#settings);
        const stored = toValue(value ?? "", method, this.#settings);
        return this.#store({ key: name, value: stored, ...described });
      } catch (error) {
        // Otherwise the writer of the stream would wait forever.
        if (value instanceof ReadableStream && !value.locked) value.cancel(error).catch(() => {});
        throw error;
      }
    });
  }

  delete(keys: string | string[]): Promise<void> {
    const given = arguments;
    return invoke(StoreBucket.#require(this).#settings, () => {
      requireArguments(given, "StoreBucket.delete", ["string or Array"]);
      const names = Array.isArray(keys) ? keys.map(toText) : [toText(keys)];
      return this.#bucket.call({ method: "delete", keys: names }, () => {});
    });
  }

  list(options?: types.StoreListOptions): Promise<types.StoreObjects> {
    return invoke(StoreBucket.#require(this).#settings, () =>
      this.#list(this.#listRequest(toOptions(options, "StoreBucket.list", 1, "ListOptions"))),
    );
  }

  createMultipartUpload(
    key: string,
    options?: types.StoreMultipartOptions,
  ): Promise<StoreMultipartUpload> {
    const given = arguments;
    return invoke(StoreBucket.#require(this).#settings, () => {
      const method = "StoreBucket.createMultipartUpload";
      requireArguments(given, method, ["string"]);
      const name = toText(key);
      const fields = toOptions(options, method, 2, "MultipartOptions");
      const description = descriptionOptions(fields, "MultipartOptions", this.#settings);
      return this.#bucket.call(
        { method: "createUpload", key: name, ...description },
        ({ uploadId }) => this.#upload(name, uploadId),
      );
    });
  }

  resumeMultipartUpload(key: string, uploadId: string): StoreMultipartUpload {
    StoreBucket.#require(this);
    requireArguments(arguments, "StoreBucket.resumeMultipartUpload", ["string", "string"]);
    return this.#upload(toText(key), toText(uploadId));
  }

  static #require(value: object | undefined): StoreBucket {
    requireOwner(value !== undefined && #bucket in value);
    return value;
  }

  #get(
    request: GetRequest,
    ssecKeyMd5?: string,
    overrides?: HttpMetadata,
  ): Promise<StoreObjectBody | StoreObject | null> {
    return this.#bucket.get(request, (opened) => {
      if (opened === null) return null;
      const { object } = opened;
      if (object.ssecKeyMd5 !== ssecKeyMd5) throw refusedKey(opened, ssecKeyMd5);
      const record =
        overrides === undefined ? object : { ...object, http: { ...object.http, ...overrides } };
      return opened.status === "found"
        ? new StoreObjectBody(record, opened.range, opened.content)
        : new StoreObject(record, wholeRange(record));
    });
  }

  async #store(request: PutRequest): Promise<StoreObject | null> {
    const record = await this.#bucket.put(request);
    return record === null ? null : new StoreObject(record);
  }

  #listRequest(options: Record<string, unknown>): ListRequest {
    const { limit } = options;
    const startAfter = textField(options, "ListOptions", "startAfter");
    // An empty cursor is the start, as a script may have it before its first page.
    const cursor = textField(options, "ListOptions", "cursor") || undefined;
    const include = includeOption(options);
    const all = !this.#settings.honorInclude;
    return {
      prefix: textField(options, "ListOptions", "prefix") ?? "",
      delimiter: textField(options, "ListOptions", "delimiter") ?? "",
      startAfter,
      cursor,
      limit: limit === undefined ? listLimitMax : toInteger(limit),
      includeHttp: all || include.has("httpMetadata"),
      includeCustom: all || include.has("customMetadata"),
    };
  }

  #list(request: ListRequest): Promise<types.StoreObjects> {
    return this.#bucket.call(
      { method: "list", ...request },
      ({ objectsJson, prefixes, cursor }) => {
        const include = { http: request.includeHttp, custom: request.includeCustom };
        const page = {
          objects: decodeObjects(objectsJson, include).map(listedObject),
          delimitedPrefixes: prefixes.map((prefix) =>
            presentPrefix(prefix, request.delimiter, this.#settings.trailingDelimiter),
          ),
        };
        return cursor === undefined
          ? { ...page, truncated: false }
          : { ...page, truncated: true, cursor };
      },
    );
  }

  #upload(key: string, uploadId: string): StoreMultipartUpload {
    return new StoreMultipartUpload(this.#bucket, this.#settings, { key, uploadId });
  }
}

/** Closes the object, which the script may not read. */
function refusedKey(opened: OpenedObject, given: string | undefined): Error {
  if (opened.status === "found" && opened.content instanceof ReadableStream) {
    opened.content.cancel().catch(() => {});
  }
  return new Error(
    bindingMessage("get", { code: 200004, text: keyDifference(opened.object, given) }),
  );
}

const includable = new Set(["httpMetadata", "customMetadata"]);

function includeOption({ include }: Record<string, unknown>): Set<string> {
  if (include === undefined) return new Set();
  if (!Array.isArray(include)) throw fieldError("ListOptions", "include", "Array");
  for (const [index, value] of include.entries()) {
    if (typeof value !== "string") throw elementError(index, "string");
    if (!includable.has(value)) throw new RangeError(`Unsupported include value ${value}`);
  }
  return new Set(include as string[]);
}

function wholeRange({ size }: ObjectRecord): ByteRange {
  return { offset: 0, length: size };
}

function listedObject(record: ObjectRecord): StoreObject {
  return new StoreObject(record, undefined, new ListedChecksums(record.checksums));
}

class StoreMultipartUpload implements types.StoreMultipartUpload {
  readonly key: string;
  readonly uploadId: string;
  readonly #bucket: BucketCalls;
  readonly #settings: BucketSettings;

  constructor(bucket: BucketCalls, settings: BucketSettings, { key, uploadId }: UploadReference) {
    this.key = key;
    this.uploadId = uploadId;
    this.#bucket = bucket;
    this.#settings = settings;
  }

  uploadPart(
    partNumber: number,
    value: types.StoreValue,
    options?: object,
  ): Promise<types.StoreUploadedPart> {
    const given = arguments;
    return invoke(StoreMultipartUpload.#require(this).#settings, () => {
      const method = "StoreMultipartUpload.uploadPart";
      requireArguments(given, method, ["integer", valueTypes]);
      const number = toInteger(partNumber);
      validatePartNumber(number);
      const key = customerKeyOption(toOptions(options, method, 3, "UploadPartOptions"));
      const part = { partNumber: number, value: toValue(value, method, this.#settings) };
      return this.#bucket.uploadPart({ ...this.#reference(), ...part, ...key });
    });
  }

  abort(): Promise<void> {
    const reference = StoreMultipartUpload.#require(this).#reference();
    return this.#bucket.call({ method: "abortUpload", ...reference }, () => {});
  }

  complete(uploadedParts: types.StoreUploadedPart[]): Promise<StoreObject> {
    const given = arguments;
    return invoke(StoreMultipartUpload.#require(this).#settings, () => {
      requireArguments(given, "StoreMultipartUpload.complete", ["Array"]);
      return this.#bucket.call(
        { method: "completeUpload", ...this.#reference(), parts: toParts(uploadedParts) },
        (text) => new StoreObject(decodeObject(this.key, text)),
      );
    });
  }

  static #require(value: object | undefined): StoreMultipartUpload {
    requireOwner(value !== undefined && #bucket in value);
    return value;
  }

  #reference(): UploadReference {
    return { key: this.key, uploadId: this.uploadId };
  }
}

function toParts(value: unknown): PartReference[] {
  if (!Array.isArray(value)) throw argumentError("StoreMultipartUpload.complete", 1, "Array");
  return value.map((part: unknown, index) => {
    if (!isObject(part)) throw elementError(index, "UploadedPart");
    const partNumber = toInteger(part["partNumber"]);
    validatePartNumber(partNumber);
    return { partNumber, etag: toText(part["etag"]) };
  });
}
