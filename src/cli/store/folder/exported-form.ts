/**
 * How an exported object was stored, as far as its bytes do not say so: its checksums beside MD5, and
 * its parts. A checksum of an upload in parts, and its etag, depend on the size of the parts.
 */
import {
  isComposite,
  type ChecksumAlgorithm,
  type Checksums,
  type S3ChecksumAlgorithm,
} from "../../../store/core/checksum.ts";
import type { StoredForm } from "../../../store/node/bucket-objects.ts";
import type { FileContent } from "../../../store/node/file-content.ts";
import type { ManifestEntry } from "./manifest.ts";

export interface ExportedForm {
  readonly etag: string;
  readonly checksums: Checksums;
  readonly form: StoredForm;
}

type ExportedEntry = Pick<ManifestEntry, "etag" | "checksums" | "s3Checksums" | "partBytes">;

/**
 * @returns `null` for an object whose form follows from its bytes, and for a file that has changed since
 *   the export: nothing that the manifest says about its bytes holds any more
 */
export async function exportedForm(
  { etag, checksums, s3Checksums = {}, partBytes }: ExportedEntry,
  content: Pick<FileContent, "checksums" | "multipartEtag">,
): Promise<ExportedForm | null> {
  if (partBytes !== undefined) {
    if ((await content.multipartEtag(partBytes)) !== etag) return null;
    const algorithms = namesOf(s3Checksums);
    const form = { algorithms, upload: uploadOf(s3Checksums, partBytes) };
    return { etag, checksums: s3Checksums, form };
  }
  const expected = { ...checksums, ...s3Checksums };
  const algorithms = namesOf(expected).filter((algorithm) => algorithm !== "md5");
  if (algorithms.length === 0 || checksums.md5 === undefined) return null;
  const found = await content.checksums(["md5", ...algorithms]);
  return namesOf(expected).every((algorithm) => found[algorithm] === expected[algorithm])
    ? { etag, checksums: expected, form: { algorithms } }
    : null;
}

/** The first checksum is that of the upload, and the last is verified when the upload is completed. */
function uploadOf(checksums: Checksums, partBytes: number): NonNullable<StoredForm["upload"]> {
  const entries = Object.entries(checksums) as [S3ChecksumAlgorithm, string][];
  const [first, last] = [entries.at(0), entries.at(-1)];
  if (first === undefined || last === undefined) return { partBytes };
  return {
    partBytes,
    checksumAlgorithm: first[0],
    checksumType: isComposite(first[1]) ? "composite" : "full object",
    checksum: { algorithm: last[0], hex: last[1] },
  };
}

function namesOf(checksums: Checksums): ChecksumAlgorithm[] {
  return Object.keys(checksums) as ChecksumAlgorithm[];
}
