/**
 * What the browser remembers of an upload in parts, so that the upload can continue after a reload. A
 * page may not keep a file: the person chooses the file again, and its name, size and time tell
 * whether the file is the same.
 */
export interface UploadRecord {
  /** The project: another project may be served at the same address later. */
  readonly project: string;
  readonly bucket: string;
  readonly key: string;
  readonly uploadId: string;
  readonly name: string;
  readonly size: number;
  /** Milliseconds since the epoch */
  readonly lastModified: number;
  readonly partBytes: number;
}

export interface FileHead {
  readonly name: string;
  readonly size: number;
  readonly lastModified: number;
}

export interface UploadRecords {
  all(): readonly UploadRecord[];
  save(record: UploadRecord): void;
  remove(uploadId: string): void;
  /**
   * Waits until no other tab works on the upload.
   *
   * @returns whether the record still exists then
   */
  claim(uploadId: string): Promise<boolean>;
}

export function isSameFile(record: FileHead, file: FileHead): boolean {
  return (
    record.name === file.name &&
    record.size === file.size &&
    record.lastModified === file.lastModified
  );
}

/**
 * Why a chosen file cannot continue an upload, or `null`. A file with another name may be the same
 * file, which was renamed.
 */
export function explainDifference(
  record: Pick<FileHead, "size" | "lastModified">,
  file: FileHead,
): string | null {
  if (record.size !== file.size) {
    return (
      `“${file.name}” has ${exactBytes(file.size)}, ` +
      `and the file of this upload has ${exactBytes(record.size)}.`
    );
  }
  if (record.lastModified !== file.lastModified) {
    return `“${file.name}” was changed at another time than the file of this upload.`;
  }
  return null;
}

function exactBytes(bytes: number): string {
  return `${bytes.toLocaleString("en")} bytes`;
}

/** @returns `null` for text that is not a record */
export function parseRecord(text: string): UploadRecord | null {
  try {
    const value = JSON.parse(text) as Partial<UploadRecord> | null;
    const texts = [value?.project, value?.bucket, value?.key, value?.uploadId, value?.name];
    const numbers = [value?.size, value?.lastModified, value?.partBytes];
    const isRecord =
      texts.every((each) => typeof each === "string") &&
      numbers.every((each) => Number.isSafeInteger(each)) &&
      (value?.partBytes ?? 0) > 0;
    return isRecord ? (value as UploadRecord) : null;
  } catch {
    return null;
  }
}
