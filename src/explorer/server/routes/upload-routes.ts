/** Uploads in parts: begun, filled, completed, aborted, and listed with the time that they have left. */
import * as v from "valibot";
import { StoreError } from "../../../store/core/errors.ts";
import { listLimitMax, partNumberMax } from "../../../store/core/limits.ts";
import { earlierExpiry, uploadDeadline } from "../../../store/core/multipart.ts";
import { decodeObject } from "../../../store/core/object.ts";
import type { UploadReference } from "../../../store/core/operations.ts";
import type { Bucket } from "../../../store/node/bucket.ts";
import type { UploadDetails, UploadedPart, UploadPage } from "../../api/buckets.ts";
import {
  checkKey,
  explained,
  mayOverwrite,
  objectExists,
  requireBucket,
  requireKey,
} from "../bucket-access.ts";
import { CallError, json, type ExplorerCall, type ExplorerResponse, type Route } from "../call.ts";
import { objectDetails } from "../described-object.ts";
import { readInput } from "../json-input.ts";
import { onlyIfAbsent, receiveContent, requireAbsent } from "../object-writing.ts";
import { decodeUploadCursor, encodeUploadCursor } from "../upload-cursor.ts";

const newUploadSchema = v.object({
  key: v.string("must be text"),
  contentType: v.optional(v.string("must be text")),
});

const partNumberProblem = `must be a whole number from 1 to ${partNumberMax}`;
const partNumberSchema = v.pipe(
  v.number(partNumberProblem),
  v.integer(partNumberProblem),
  v.minValue(1, partNumberProblem),
  v.maxValue(partNumberMax, partNumberProblem),
);

const completionSchema = v.object({
  parts: v.pipe(
    v.array(v.object({ partNumber: partNumberSchema, etag: v.string("must be text") })),
    v.minLength(1, "must have a part"),
  ),
});

async function list(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const cursor = call.query.get("cursor") ?? "";
  const [{ uploads, next }, { lifecycle }, { storeTime }] = await Promise.all([
    bucket.call({
      method: "listUploads",
      prefix: call.query.get("prefix") ?? "",
      limit: listLimitMax,
      ...(cursor !== "" && { after: decodeUploadCursor(cursor) }),
    }),
    bucket.call({ method: "getSettings" }),
    call.context.conditions.read(),
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
    now: storeTime,
  } satisfies UploadPage);
}

async function create(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const { key, contentType } = await readInput(call, newUploadSchema);
  checkKey(key);
  const created = await refer({ key }, () =>
    bucket.call({
      method: "createUpload",
      key,
      http: contentType === undefined || contentType === "" ? {} : { contentType },
      custom: {},
      storageClass: "Standard",
    }),
  );
  return json(created, 201);
}

async function describe(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const upload = uploadOf(call);
  const parts = await refer(upload, () => listParts(bucket, upload));
  return json({ parts } satisfies UploadDetails);
}

async function uploadPart(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const upload = uploadOf(call);
  const partNumber = partNumberOf(call.parameters["number"] as string);
  // Before the content is sent for nothing.
  await refer(upload, () =>
    bucket.call({ method: "listParts", ...upload, afterPartNumber: partNumberMax, limit: 1 }),
  );
  const content = await receiveContent(call, bucket, upload.key);
  const { etag } = await refer({ ...upload, partNumber }, () =>
    bucket.call({ method: "uploadPart", ...upload, partNumber, content }),
  );
  const size = "bytes" in content ? content.bytes.length : content.size;
  return json({ partNumber, etag, size } satisfies UploadedPart);
}

async function complete(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const upload = uploadOf(call);
  const overwrite = mayOverwrite(call);
  const { parts } = await readInput(call, completionSchema);
  if (!overwrite) await requireAbsent(bucket, upload.key);
  const stored = await refer(upload, () =>
    bucket.call({
      method: "completeUpload",
      ...upload,
      parts,
      ...(!overwrite && { onlyIf: onlyIfAbsent }),
    }),
  );
  return json(objectDetails(decodeObject(upload.key, stored)));
}

async function abort(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const upload = uploadOf(call);
  await refer(upload, () => bucket.call({ method: "abortUpload", ...upload }));
  return { status: 200, headers: {} };
}

async function listParts(bucket: Bucket, upload: UploadReference): Promise<UploadedPart[]> {
  const parts: UploadedPart[] = [];
  for (;;) {
    const page = await bucket.call({
      method: "listParts",
      ...upload,
      afterPartNumber: parts.at(-1)?.partNumber ?? 0,
      limit: listLimitMax,
    });
    for (const { partNumber, etag, size } of page.parts) parts.push({ partNumber, etag, size });
    if (!page.truncated) return parts;
  }
}

function uploadOf(call: ExplorerCall): UploadReference {
  return { key: requireKey(call), uploadId: call.parameters["uploadId"] as string };
}

function partNumberOf(text: string): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= partNumberMax) return number;
  throw new CallError(400, `The number of a part ${partNumberProblem}, not "${text}".`);
}

/** Adds the reason to a refusal. */
async function refer<Result>(
  operation: { readonly key: string; readonly partNumber?: number },
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreError && error.code === 10031) throw objectExists(operation.key);
    throw explained(error, operation);
  }
}

const uploads = "/api/buckets/:bucket/uploads";

export const uploadRoutes: readonly Route[] = [
  { method: "GET", path: uploads, handle: list },
  { method: "POST", path: uploads, handle: create },
  { method: "GET", path: `${uploads}/:uploadId`, handle: describe },
  { method: "DELETE", path: `${uploads}/:uploadId`, handle: abort },
  { method: "PUT", path: `${uploads}/:uploadId/parts/:number`, handle: uploadPart },
  { method: "POST", path: `${uploads}/:uploadId/complete`, handle: complete },
];
