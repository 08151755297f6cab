import type { BucketCalls } from "../client/bucket-calls.ts";
import { validatePartNumber, type PartReference } from "../core/multipart.ts";
import { decodeObject } from "../core/object-encoding.ts";
import type { UploadReference } from "../core/operations.ts";
import type * as types from "../../types/store.ts";
import {
  argumentError,
  elementError,
  isObject,
  requireArguments,
  toInteger,
  toOptions,
  toText,
} from "./arguments.ts";
import { customerKeyOption } from "./options.ts";
import { StoreObject } from "./store-object.ts";
import type { BucketSettings } from "../core/bucket-settings.ts";
import { inScript, invoke, requireOwner } from "./invocation.ts";
import { toValue, valueTypes } from "./value.ts";

export class StoreMultipartUpload implements types.StoreMultipartUpload {
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
      return inScript(this.#bucket.uploadPart({ ...this.#reference(), ...part, ...key }));
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
