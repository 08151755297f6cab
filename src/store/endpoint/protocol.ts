/** The parts of the endpoint's protocol that the endpoint and its clients share. */
import type { ObjectDescription } from "../core/operations.ts";

/** The header that describes the content of a request: JSON in base64. */
export const requestHeader = "x-ledge-request";

export interface CopyRequest extends Partial<ObjectDescription> {
  readonly key: string;
  readonly from: { readonly bucketName: string; readonly key: string };
}
