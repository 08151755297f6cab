/** Metadata of an object, seen and replaced. The content stays: the object is copied onto itself. */
import * as v from "valibot";
import {
  validateHeaderValue,
  validateMetadata,
  type CustomMetadata,
} from "../../store/core/metadata.ts";
import { decodeObject } from "../../store/core/object.ts";
import type { Conditional } from "../../store/core/conditional.ts";
import {
  explained,
  objectMissing,
  quoted,
  requireBucket,
  requireKey,
  objectDetails,
} from "./bucket-access.ts";
import { CallError, json, type ExplorerResponse, readInput } from "./call.ts";
import { type ExplorerCall } from "./context.ts";
import { copyObject } from "./object-copy.ts";

const headerText = v.pipe(
  v.string("must be text"),
  v.check(isHeaderValue, "must not have a line break or a NUL character"),
);

const metadataChangeSchema = v.object({
  etag: v.pipe(v.string("must be text"), v.nonEmpty("must not be empty")),
  version: v.pipe(v.string("must be text"), v.nonEmpty("must not be empty")),
  httpMetadata: v.strictObject({
    contentType: v.exactOptional(headerText),
    contentLanguage: v.exactOptional(headerText),
    contentDisposition: v.exactOptional(headerText),
    contentEncoding: v.exactOptional(headerText),
    cacheControl: v.exactOptional(headerText),
    cacheExpiry: v.exactOptional(
      v.pipe(
        v.number("must be a time in milliseconds"),
        v.check(
          (time) => !Number.isNaN(new Date(time).getTime()),
          "must be a time in milliseconds",
        ),
      ),
    ),
  }),
  // Not `v.record`, which leaves out names such as "constructor".
  customMetadata: v.custom<CustomMetadata>(isTextTable, "must be names with texts"),
  storageClass: v.picklist(
    ["Standard", "InfrequentAccess"],
    "must be Standard or InfrequentAccess",
  ),
});

export async function describeObject(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const key = requireKey(call);
  const found = await bucket.call({ method: "head", key });
  if (found === null) throw objectMissing(bucket.name, key);
  return json(objectDetails(decodeObject(key, found)));
}

export async function changeMetadata(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const key = requireKey(call);
  const change = await readInput(call, metadataChangeSchema);
  const { etag, version, httpMetadata: http, customMetadata: custom, storageClass } = change;
  try {
    validateMetadata(http, custom);
  } catch (error) {
    throw explained(error, { key });
  }
  const isSame: Conditional = { etagMatches: [{ kind: "strong", value: etag }] };
  const outcome = await copyObject(
    { bucket, key, onlyIf: isSame, version },
    { bucket, key, onlyIf: isSame, description: { http, custom, storageClass } },
  );
  if (outcome.status === "missing") throw objectMissing(bucket.name, key);
  if (outcome.status !== "copied") {
    throw new CallError(
      412,
      `The object ${quoted(key)} was changed meanwhile, and its metadata are not replaced. Load the ` +
        "object again, and repeat the change.",
      10031,
    );
  }
  return json(objectDetails(outcome.object));
}

function isTextTable(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((text) => typeof text === "string")
  );
}

function isHeaderValue(text: string): boolean {
  try {
    validateHeaderValue("the value", text);
    return true;
  } catch {
    return false;
  }
}
