/** As it is stored and sent: `cacheExpiry` in milliseconds since the epoch. */
export interface HttpMetadata {
    readonly contentType?: string;
    readonly contentLanguage?: string;
    readonly contentDisposition?: string;
    readonly contentEncoding?: string;
    readonly cacheControl?: string;
    readonly cacheExpiry?: number;
}
export type CustomMetadata = Readonly<Record<string, string>>;
/** The textual fields and the header that each stands for. `Expires` is the sixth. */
export declare const httpMetadataHeaders: {
    readonly contentType: "content-type";
    readonly contentLanguage: "content-language";
    readonly contentDisposition: "content-disposition";
    readonly contentEncoding: "content-encoding";
    readonly cacheControl: "cache-control";
};
export type HttpMetadataField = keyof typeof httpMetadataHeaders;
export declare const httpMetadataFields: HttpMetadataField[];
/** What a set of headers says. `get` is that of `Headers`. */
export declare function httpMetadataFromHeaders(headers: {
    get(name: string): string | null;
}): HttpMetadata;
/**
 * Refuses what could not be written as a header. A value with CR, LF or NUL would let the
 * uploader of an object write headers of its own into the responses that serve it.
 */
export declare function validateHeaderValue(field: string, value: string): void;
/** @throws StoreError 10012 when both kinds together are too large */
export declare function validateMetadata(http: HttpMetadata, custom: CustomMetadata): void;
