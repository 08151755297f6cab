/** The size of an operation, which limits how many operations are sent together. */
import { inlineBytesMax, keyBytesMax, listPageBytesMax, metadataBytesMax } from "./limits.ts";
import type { Operation } from "./operations.ts";

/** A key and the largest metadata of an object, with room for their JSON. */
const recordBytes = 2 * (keyBytesMax + metadataBytesMax);
/** A key, or a part. */
const entryBytes = 2 * keyBytesMax;

/** The most bytes that an operation carries, in its request or in its result. */
export function bytesCarried(operation: Operation): number {
  switch (operation.method) {
    case "put":
    case "uploadPart":
      return recordBytes + ("bytes" in operation.content ? operation.content.bytes.length : 0);
    case "get":
      return recordBytes + inlineBytesMax;
    case "list":
      return Math.max(operation.limit * entryBytes, 2 * listPageBytesMax);
    case "delete":
      return operation.keys.length * entryBytes;
    case "completeUpload":
      return operation.parts.length * entryBytes;
    case "listUploads":
    case "listParts":
      return operation.limit * entryBytes;
    case "head":
    case "createUpload":
    case "abortUpload":
    case "getSettings":
    case "putSettings":
    case "createBucket":
    case "deleteBucket":
    case "stats":
    case "checkDisk":
      return recordBytes;
  }
}
