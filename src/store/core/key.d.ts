/** @throws StoreError 10020 when no object can have this key */
export declare function validateKey(key: string): void;
/** How many bytes well-formed text takes in UTF-8. A lone surrogate counts as U+FFFD, 3 bytes. */
export declare function utf8Length(text: string): number;
/** Negative, zero or positive as `left` sorts before, with or after `right` in UTF-8. */
export declare function compareKeys(left: string, right: string): number;
/**
 * The smallest key after every key that begins with `prefix`, or `null` when there is none: for
 * the empty prefix, and for one made of U+10FFFF only.
 */
export declare function prefixEnd(prefix: string): string | null;
