/**
 * The calls that an upload makes. The queue knows this interface only, so tests run it without a
 * browser. Calls throw an `ApiCallError`, or the reason of the aborted signal.
 */
import type { ListedObject, UploadedPart } from "../../api/buckets.ts";
import { ApiCallError } from "../api-client.ts";

export interface ObjectTarget {
  readonly bucket: string;
  readonly key: string;
}

export interface UploadTarget extends ObjectTarget {
  readonly uploadId: string;
}

export interface Sending {
  readonly body: Blob;
  /** Receives the number of bytes of this body that have been sent. */
  readonly onProgress: (bytes: number) => void;
  readonly signal: AbortSignal;
}

export interface UploadTransport {
  /** Which project the explorer serves; also shows that the explorer answers. */
  project(): Promise<string>;
  findObject(target: ObjectTarget): Promise<Pick<ListedObject, "size" | "etag"> | null>;
  putObject(
    target: ObjectTarget & { readonly contentType?: string; readonly overwrite: boolean },
    sending: Sending,
  ): Promise<void>;
  /** @returns the id of the upload */
  createUpload(target: ObjectTarget & { readonly contentType?: string }): Promise<string>;
  listParts(target: UploadTarget): Promise<readonly UploadedPart[]>;
  putPart(
    target: UploadTarget & { readonly partNumber: number },
    sending: Sending,
  ): Promise<Pick<UploadedPart, "etag">>;
  completeUpload(
    target: UploadTarget & { readonly overwrite: boolean },
    parts: readonly Pick<UploadedPart, "partNumber" | "etag">[],
  ): Promise<void>;
  abortUpload(target: UploadTarget): Promise<void>;
}

/** The store's code of a refused call for an upload that does not exist (`store/core/errors.ts`). */
const noSuchUpload = 10024;

/** Whether the upload has expired, or was aborted or completed. */
export function isUploadGone(error: unknown): boolean {
  return error instanceof ApiCallError && error.code === noSuchUpload;
}

/** Whether a call with `overwrite=false` was refused because the key has an object. */
export function isKeyTaken(error: unknown): boolean {
  return error instanceof ApiCallError && (error.status === 412 || error.status === 409);
}
