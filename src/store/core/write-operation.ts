/** The part of an operation that is known before the value that the operation stores is read. */
import { validateMetadata } from "./http-metadata.ts";
import { validateKey } from "./key.ts";

interface DescribedWrite {
  readonly key: string;
  readonly http?: Parameters<typeof validateMetadata>[0];
  readonly custom?: Parameters<typeof validateMetadata>[1];
}

/** @throws StoreError for an operation that the bucket would refuse */
export function validateWrite({ key, http, custom }: DescribedWrite): void {
  validateKey(key);
  if (http !== undefined && custom !== undefined) validateMetadata(http, custom);
}
