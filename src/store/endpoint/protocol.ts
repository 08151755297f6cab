/** What goes through the endpoint, as both sides know it. */
import type { ObjectDescription } from "../core/operations.ts";

/** JSON in base64 that describes the content of the request. */
export const requestHeader = "x-ledge-request";

export interface CopyRequest extends Partial<ObjectDescription> {
  readonly key: string;
  readonly from: { readonly bucketName: string; readonly key: string };
}
