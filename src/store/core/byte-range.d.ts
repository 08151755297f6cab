/** A range as the caller gave it: numbers, or the text of a `Range` header. */
export type RangeRequest = {
    readonly offset?: number;
    readonly length?: number;
    readonly suffix?: never;
} | {
    readonly suffix: number;
    readonly offset?: never;
    readonly length?: never;
} | {
    readonly header: string;
};
export interface ByteRange {
    readonly offset: number;
    readonly length: number;
}
/**
 * Checks the numbers of a range before anything is read.
 *
 * @throws RangeError for a negative or fractional number
 * @throws TypeError for a suffix beside an offset or a length
 */
export declare function validateRange(range: {
    offset?: number | undefined;
    length?: number | undefined;
    suffix?: number | undefined;
}): RangeRequest;
/**
 * The bytes that `request` means in an object of `size` bytes.
 *
 * @throws StoreError 10039 when an explicit range holds no byte of the object. A header that is
 *   malformed, names several ranges or cannot be satisfied serves the whole object instead
 *   (RFC 7233 section 3.1 lets a server ignore it).
 */
export declare function resolveRange(request: RangeRequest | undefined, size: number): ByteRange;
