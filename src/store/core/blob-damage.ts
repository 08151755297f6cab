/** Damage of the file of a blob, and its description. */

export interface BlobDamage {
  readonly blob: string;
  readonly expectedBytes: number;
  /** `null`: the file does not exist */
  readonly actualBytes: number | null;
  /** The MD5 hashes of a file that has the right size and other content. */
  readonly hashes?: { readonly expected: string; readonly actual: string };
}

/** What is wrong, as the end of a sentence. */
export function describeBlobDamage(damage: BlobDamage): string {
  const { blob, expectedBytes, actualBytes, hashes } = damage;
  if (hashes !== undefined) {
    return `file "${blob}" has the MD5 ${hashes.actual}, metadata says ${hashes.expected}`;
  }
  return actualBytes === null
    ? `file "${blob}" is missing, metadata says ${expectedBytes} bytes`
    : `file "${blob}" is ${actualBytes} bytes, metadata says ${expectedBytes}`;
}

/** The file of a blob is missing, or is not the file that the database says. */
export class BlobDamagedError extends Error {
  override readonly name = "BlobDamagedError";
  readonly damage: BlobDamage;

  constructor(damage: BlobDamage) {
    super(describeBlobDamage(damage));
    this.damage = damage;
  }
}
