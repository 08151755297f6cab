/** Where a page of uploads begins, as text for the page. */
import type { UploadPosition } from "../../store/core/operations.ts";
import { CallError } from "./call.ts";

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
