/**
 * Conditional requests (RFC 7232).
 *
 * Both forms that a caller may give, the object and the headers, become one `Conditional`. All
 * conditions that are given must hold; entity tags take precedence over dates as section 6 says:
 * a date is passed over when the tag condition beside it was given and held.
 */
export type EtagPattern = {
    readonly kind: "any";
} | {
    readonly kind: "strong" | "weak";
    readonly value: string;
};
export interface Conditional {
    /** If-Match */
    readonly etagMatches?: readonly EtagPattern[];
    /** If-None-Match */
    readonly etagDoesNotMatch?: readonly EtagPattern[];
    /** If-Unmodified-Since, in milliseconds since the epoch */
    readonly uploadedBefore?: number;
    /** If-Modified-Since, in milliseconds since the epoch */
    readonly uploadedAfter?: number;
    /** HTTP dates know no fractions of a second. */
    readonly secondsGranularity?: boolean;
}
/** Whether `condition` holds for the object as it is, `null` when there is none. */
export declare function conditionHolds(condition: Conditional, object: {
    etag: string;
    uploaded: number;
} | null): boolean;
/** The pattern for a tag in the object form: unquoted, `*` for any. */
export declare function parseEtag(etag: string): EtagPattern;
/**
 * The patterns of an If-Match or If-None-Match header: `*`, or tags separated by commas.
 *
 * The errors are the platform's own: plain `Error`s, with its texts.
 */
export declare function parseEtagHeader(name: "if-match" | "if-none-match", header: string): EtagPattern[];
