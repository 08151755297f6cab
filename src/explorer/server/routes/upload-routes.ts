/**
 * Uploads in parts, which scripts and S3 clients have begun: listed with the time that they have left, and
 * aborted.
 */
import { listLimitMax } from "../../../store/core/limits.ts";
import { earlierExpiry, uploadDeadline } from "../../../store/core/multipart.ts";
import type { UploadPosition } from "../../../store/core/operations.ts";
import type { UploadPage } from "../../api/buckets.ts";
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

async function abort(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const upload = { key: requireKey(call), uploadId: call.parameters["uploadId"] as string };
  try {
    await bucket.call({ method: "abortUpload", ...upload });
  } catch (error) {
    throw explained(error, upload);
  }
  return { status: 200, headers: {} };
}

const uploads = "/api/buckets/:bucket/uploads";

export const uploadRoutes: readonly Route[] = [
  { method: "GET", path: uploads, handle: list },
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
