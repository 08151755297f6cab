/**
 * Storage errors: one class, one table.
 *
 * Deviation: 10058, too many requests for one object, is never raised.
 *
 * A code is what the bucket decides; the table says how each face of the store words it. The
 * binding rejects with a plain `Error` reading `<action>: <text> (<code>)`; an HTTP face answers
 * with the status and the name.
 */
export declare const storeErrorTable: {
    readonly 10001: {
        readonly name: "InternalError";
        readonly status: 500;
        readonly text: "We encountered an internal error. Please try again.";
    };
    readonly 10011: {
        readonly name: "EntityTooSmall";
        readonly status: 400;
        readonly text: "Your proposed upload is smaller than the minimum allowed object size.";
    };
    readonly 10012: {
        readonly name: "MetadataTooLarge";
        readonly status: 400;
        readonly text: "Your metadata headers exceed the maximum allowed metadata size.";
    };
    readonly 10020: {
        readonly name: "InvalidObjectName";
        readonly status: 400;
        readonly text: "The specified object name is not valid.";
    };
    readonly 10022: {
        readonly name: "InvalidMaxKeys";
        readonly status: 400;
        readonly text: "MaxKeys params must be positive integer <= 1000.";
    };
    readonly 10024: {
        readonly name: "NoSuchUpload";
        readonly status: 404;
        readonly text: "The specified multipart upload does not exist.";
    };
    readonly 10025: {
        readonly name: "InvalidPart";
        readonly status: 400;
        readonly text: "One or more of the specified parts could not be found.";
    };
    readonly 10027: {
        readonly name: "TooManyKeys";
        readonly status: 400;
        readonly text: "The number of keys in the request must be between 1 and 1000 inclusive.";
    };
    readonly 10037: {
        readonly name: "BadDigest";
        readonly status: 400;
        readonly text: "The checksum you specified did not match what we received.";
    };
    readonly 10039: {
        readonly name: "InvalidRange";
        readonly status: 416;
        readonly text: "The requested range is not satisfiable";
    };
    readonly 10048: {
        readonly name: "BadUpload";
        readonly status: 400;
        readonly text: "There was a problem with the multipart upload.";
    };
    readonly 100100: {
        readonly name: "EntityTooLarge";
        readonly status: 400;
        readonly text: "Your proposed upload exceeds the maximum allowed object size.";
    };
};
export type StoreErrorCode = keyof typeof storeErrorTable;
/** What the caller of the binding sees in front of the text. */
export type StoreAction = "head" | "get" | "put" | "delete" | "list" | "createMultipartUpload" | "uploadPart" | "completeMultipartUpload" | "abortMultipartUpload" | "listMultipartUploads" | "listParts";
/** An error of the store's rules. It crosses RPC as `{ code, text }`, not as an exception. */
export declare class StoreError extends Error {
    readonly code: StoreErrorCode;
    /** @param text replaces the table's text where the error has something particular to say */
    constructor(code: StoreErrorCode, text?: string);
    get status(): number;
    get s3Name(): string;
}
/** The message the binding rejects with. */
export declare function bindingMessage(action: StoreAction, error: {
    code: StoreErrorCode;
    text: string;
}): string;
