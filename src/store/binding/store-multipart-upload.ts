import type { BucketCalls } from "../client/bucket-calls.ts";
import { validatePartNumber, type PartReference } from "../core/multipart.ts";
import { decodeObject } from "../core/object-encoding.ts";
import type { UploadReference } from "../core/operations.ts";
import type * as types from "../../types/store.ts";
import { argumentError, isObject, requireArguments, toInteger, toText } from "./arguments.ts";
import { StoreObject } from "./store-object.ts";
import { invokeBy, requireOwner, type BucketSettings, type Invoke } from "./invocation.ts";
import { toValue, valueTypes } from "./value.ts";

export class StoreMultipartUpload implements types.StoreMultipartUpload {
  readonly key: string;
  readonly uploadId: string;
  readonly #bucket: BucketCalls;
  readonly #settings: BucketSettings;
  readonly #invoke: Invoke;

  constructor(bucket: BucketCalls, settings: BucketSettings, { key, uploadId }: UploadReference) {
    this.key = key;
    this.uploadId = uploadId;
    this.#bucket = bucket;
    this.#settings = settings;
    this.#invoke = invokeBy(settings);
  }

  uploadPart(partNumber: number, value: types.StoreValue): Promise<types.StoreUploadedPart> {
    const given = arguments;
    requireOwner(StoreMultipartUpload.isUpload(this));
    return this.#invoke(() => {
      const method = "StoreMultipartUpload.uploadPart";
      requireArguments(given, method, ["integer", valueTypes]);
      const number = toInteger(partNumber);
      validatePartNumber(number);
      return this.#bucket.uploadPart({
        ...this.#reference(),
        partNumber: number,
        value: toValue(value, method, this.#settings),
      });
    });
  }

  abort(): Promise<void> {
    requireOwner(StoreMultipartUpload.isUpload(this));
    return this.#abort();
  }

  static isUpload(value: object | undefined): boolean {
    return value !== undefined && #bucket in value;
  }

  #abort(): Promise<void> {
    return this.#bucket.call({ method: "abortUpload", ...this.#reference() }, () => {});
  }

  complete(uploadedParts: types.StoreUploadedPart[]): Promise<StoreObject> {
    const given = arguments;
    requireOwner(StoreMultipartUpload.isUpload(this));
    return this.#invoke(() => {
      requireArguments(given, "StoreMultipartUpload.complete", ["Array"]);
      return this.#complete(toParts(uploadedParts));
    });
  }

  #complete(parts: PartReference[]): Promise<StoreObject> {
    return this.#bucket.call(
      { method: "completeUpload", ...this.#reference(), parts },
      (text) => new StoreObject(decodeObject(this.key, text)),
    );
  }

  #reference(): UploadReference {
    return { key: this.key, uploadId: this.uploadId };
  }
}

function toParts(value: unknown): PartReference[] {
  if (!Array.isArray(value)) throw argumentError("StoreMultipartUpload.complete", 1, "Array");
  return value.map((part: unknown, index) => {
    if (!isObject(part)) {
      throw new TypeError(
        `Incorrect type for array element ${index}: ` +
          `the provided value is not of type 'UploadedPart'.`,
      );
    }
    const partNumber = toInteger(part["partNumber"]);
    validatePartNumber(partNumber);
    return { partNumber, etag: toText(part["etag"]) };
  });
}
