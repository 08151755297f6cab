/** All checksums of an object: those of the binding, and those of the S3-compatible interface. */
import type { Checksums } from "./checksum.ts";
import type { ObjectRecord } from "./operations.ts";

export function allChecksums({ checksums, s3Checksums }: ObjectRecord): Checksums {
  return s3Checksums === undefined ? checksums : { ...checksums, ...s3Checksums };
}
