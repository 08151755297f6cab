/**
 * Listing of uploads: one page of the uploads in progress, in order of key and then of age.
 *
 * As in a listing of objects (`list-page.ts`), keys roll up into prefixes, and a new scan begins
 * after all keys with such a prefix. A key can have several uploads, so the position of a page's
 * end is a key and an upload; after a prefix it is the prefix alone.
 */
import { compareKeys, prefixEnd } from "./key.ts";
import { rollUp } from "./list-page.ts";
import type { Request, Result, UploadPosition, UploadRecord } from "./operations.ts";

/** Where a scan begins: at a key, after all uploads of a key, or after an upload. */
export interface UploadBound extends UploadPosition {
  readonly inclusive: boolean;
}

/** Scans the uploads in progress from a bound, up to a key (`null`: to the last). */
export type ScanUploads = (bounds: {
  from: UploadBound;
  end: string | null;
}) => Iterable<UploadRecord>;

export function uploadPage(
  { prefix, delimiter = "", after, limit }: Omit<Request<"listUploads">, "method">,
  scan: ScanUploads,
): Result<"listUploads"> {
  const end = prefixEnd(prefix);
  const uploads: UploadRecord[] = [];
  const prefixes: string[] = [];
  let last: UploadPosition | undefined;
  let from = firstBound(prefix, delimiter, after);
  while (from !== null) {
    let jump: UploadBound | null = null;
    for (const upload of scan({ from, end })) {
      if (uploads.length + prefixes.length === limit && last !== undefined) {
        return { uploads, prefixes, truncated: true, next: last };
      }
      const rolledUp = rollUp(upload.key, prefix, delimiter);
      if (rolledUp === null) {
        uploads.push(upload);
        last = { key: upload.key, uploadId: upload.uploadId };
      } else {
        prefixes.push(rolledUp);
        last = { key: rolledUp };
        jump = afterPrefix(rolledUp);
        break;
      }
    }
    from = jump;
  }
  return { uploads, prefixes, truncated: false };
}

/** `null` when no upload follows. */
function firstBound(
  prefix: string,
  delimiter: string,
  after: UploadPosition | undefined,
): UploadBound | null {
  const start = { key: prefix, inclusive: true };
  if (after === undefined || compareKeys(after.key, prefix) < 0) return start;
  // The page before may have ended with a prefix.
  if (after.uploadId === undefined && rollUp(after.key, prefix, delimiter) === after.key) {
    return afterPrefix(after.key);
  }
  return { ...after, inclusive: false };
}

function afterPrefix(rolledUp: string): UploadBound | null {
  const key = prefixEnd(rolledUp);
  return key === null ? null : { key, inclusive: true };
}
