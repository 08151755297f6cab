/**
 * Uploads in parts, which scripts and S3 clients have begun: listed with the time that they have left, and
 * aborted.
 */
import { listLimitMax } from "../../../store/core/limits.ts";
import { earlierExpiry, uploadDeadline } from "../../../store/core/multipart.ts";
import type { UploadReference, UploadPosition } from "../../../store/core/operations.ts";
import type { Bucket } from "../../../store/node/bucket.ts";
import type { UploadDetails, UploadedPart, UploadPage } from "../../api/buckets.ts";
import { explained, requireBucket, requireKey } from "../bucket-access.ts";
import { json, type ExplorerResponse, CallError } from "../call.ts";
import { type ExplorerCall, type Route } from "../context.ts";

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
    call.context.faults.read(),
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

async function describe(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const upload = uploadOf(call);
  const parts = await refer(upload, () => listParts(bucket, upload));
  return json({ parts } satisfies UploadDetails);
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

/** Adds the reason to a refusal. */
async function refer<Result>(
  operation: UploadReference,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw explained(error, operation);
  }
}

const uploads = "/api/buckets/:bucket/uploads";

export const uploadRoutes: readonly Route[] = [
  { method: "GET", path: uploads, handle: list },
  { method: "GET", path: `${uploads}/:uploadId`, handle: describe },
  { method: "DELETE", path: `${uploads}/:uploadId`, handle: abort },
];

/** Where a page of uploads begins, as text for the page. */
export function encodeUploadCursor({ key, uploadId }: UploadPosition): string {
  return Buffer.from(JSON.stringify([key, uploadId ?? null])).toString("base64url");
}

/** @throws CallError for text that is no cursor */
export function decodeUploadCursor(cursor: string): UploadPosition {
  const [key, uploadId] = decodeArray(cursor);
  if (typeof key === "string" && typeof uploadId === "string") return { key, uploadId };
  if (typeof key === "string" && uploadId === null) return { key };
  throw new CallError(
    400,
    "The cursor is not valid: pass the cursor of the previous page as it is.",
  );
}

function decodeArray(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
