/** The limits of the service. Sizes are in bytes unless the name says otherwise. */
/** A key, in UTF-8. Specification: limits. */
export declare const keyBytesMax = 1024;
/** Custom and HTTP metadata of one object together, in UTF-8. Specification: limits. */
export declare const metadataBytesMax = 8192;
/** An object, however it was uploaded. Specification: 4.995 TiB. */
export declare const objectBytesMax: number;
/** One put, or one part. Specification: 5 GiB less 5 MiB. */
export declare const uploadBytesMax: number;
/** Every part but the last. Specification: multipart. */
export declare const partBytesMin: number;
/** Part numbers run from 1. Specification: multipart. */
export declare const partNumberMax = 10000;
/** Objects and prefixes on a page of a listing. Specification: StoreListOptions. */
export declare const listLimitMax = 1000;
/** What a page holds when it carries metadata. Known: "about 256 KiB". */
export declare const listPageBytesMax: number;
/** Keys of one delete. Known: limits. */
export declare const deleteKeysMax = 1000;
/** An upload that is neither completed nor aborted ends by itself. Specification: upload states. */
export declare const uploadLifetimeMilliseconds: number;
/**
 * Our own: values up to this size live in the database, larger ones in files
 * (`docs/decisions/0002-inline-values.md`).
 */
export declare const inlineBytesMax: number;
