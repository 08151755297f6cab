/** The limits of the service. Sizes are in bytes unless the name says otherwise. */

const kib = 1024;
const mib = 1024 * kib;
const gib = 1024 * mib;
const tib = 1024 * gib;

/** A key, in UTF-8. Specification: limits. */
export const keyBytesMax = 1024;
/** Custom and HTTP metadata of one object together, in UTF-8. Specification: limits. */
export const metadataBytesMax = 8192;
/** An object, however it was uploaded. Specification: 4.995 TiB. */
export const objectBytesMax = Math.floor(4.995 * tib);
/** One put, or one part. Specification: 5 GiB less 5 MiB. */
export const uploadBytesMax = 5 * gib - 5 * mib;
/** Every part but the last. Specification: multipart. */
export const partBytesMin = 5 * mib;
/** Part numbers run from 1. Specification: multipart. */
export const partNumberMax = 10_000;
/** Objects and prefixes of one page of a listing. Specification: StoreListOptions. */
export const listLimitMax = 1000;
/** One page of a listing with metadata. Known: "about 256 KiB". */
export const listPageBytesMax = 256 * kib;
/** Keys of one delete. Known: limits. */
export const deleteKeysMax = 1000;
/** An upload that is neither completed nor aborted expires. Specification: upload states. */
export const uploadLifetimeMilliseconds = 7 * 24 * 60 * 60 * 1000;

/**
 * Ours: values up to this size are stored in the database, larger values in files
 * (`docs/decisions/0002-inline-values.md`).
 */
export const inlineBytesMax = 128 * kib;
