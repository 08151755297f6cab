/**
 * The object-storage interface, as a script sees it.
 *
 * These declarations are the contract: the binding's classes implement them,
 * and `ledge/types` makes them global. They use only types that both
 * `@cloudflare/workers-types` and the DOM library declare.
 */
/** A bucket, bound to a script as `env.<binding>` by `[[store_buckets]]`. */
export interface StoreBucket {
    /** The object's metadata, or `null` when there is no object under `key`. */
    head(key: string): Promise<StoreObject | null>;
    /**
     * The object with its body, or `null` when there is none.
     *
     * When `onlyIf` is given and does not hold, the result is a {@link StoreObject}:
     * its `body` is undefined. Test `"body" in object` or `object.body` to tell them apart.
     */
    get(key: string, options: StoreGetOptions & {
        onlyIf: StoreConditional | Headers;
    }): Promise<StoreObjectBody | StoreObject | null>;
    get(key: string, options?: StoreGetOptions): Promise<StoreObjectBody | null>;
    /**
     * Stores `value` under `key`, replacing what was there. Once the promise resolves, every
     * reader sees the new object.
     *
     * When `onlyIf` is given and does not hold, nothing is stored and the result is `null`.
     * The check and the write are one atomic step.
     */
    put(key: string, value: StoreValue | null, options: StorePutOptions & {
        onlyIf: StoreConditional | Headers;
    }): Promise<StoreObject | null>;
    put(key: string, value: StoreValue | null, options?: StorePutOptions): Promise<StoreObject>;
    /** Deletes one object, or up to 1000. Keys without an object are passed over. */
    delete(keys: string | string[]): Promise<void>;
    /** One page of the bucket's objects, ordered by key (UTF-8 byte order). */
    list(options?: StoreListOptions): Promise<StoreObjects>;
    /** Starts a multipart upload. It must be completed within 7 days. */
    createMultipartUpload(key: string, options?: StoreMultipartOptions): Promise<StoreMultipartUpload>;
    /**
     * A handle on an upload that was created earlier. Nothing is checked: an unknown `uploadId`
     * shows when the handle is used.
     */
    resumeMultipartUpload(key: string, uploadId: string): StoreMultipartUpload;
}
/**
 * What can be stored. A stream must have a known length: the body of a request or response that
 * has one, or the readable half of a `FixedLengthStream`.
 */
export type StoreValue = ReadableStream | ArrayBuffer | ArrayBufferView | string | Blob;
/** An object's metadata. */
export interface StoreObject {
    /** The key it is stored under. */
    readonly key: string;
    /** Random, and unique to this upload. */
    readonly version: string;
    /** Size in bytes. */
    readonly size: number;
    /** The entity tag, without quotes. */
    readonly etag: string;
    /** The entity tag in quotes, as HTTP headers carry it. */
    readonly httpEtag: string;
    /** When it was uploaded. */
    readonly uploaded: Date;
    /** Absent on a listed object unless `include` asked for it. */
    readonly httpMetadata?: StoreHTTPMetadata;
    /** Absent on a listed object unless `include` asked for it. */
    readonly customMetadata?: Record<string, string>;
    /** The bytes that the result carries. */
    readonly range?: {
        offset: number;
        length: number;
    };
    /** What is known of the content's hashes. */
    readonly checksums: StoreChecksums;
    /** Where the object is kept. */
    readonly storageClass: StoreStorageClass;
    /**
     * Sets the HTTP headers that {@link httpMetadata} describes.
     *
     * @throws TypeError on a listed object whose `httpMetadata` was not included.
     */
    writeHttpMetadata(headers: Headers): void;
}
/** An object's metadata with its content, which can be read once. */
export interface StoreObjectBody extends StoreObject {
    readonly body: ReadableStream;
    readonly bodyUsed: boolean;
    arrayBuffer(): Promise<ArrayBuffer>;
    bytes(): Promise<Uint8Array>;
    text(): Promise<string>;
    json<T = unknown>(): Promise<T>;
    /** A blob whose `type` is the object's content type. */
    blob(): Promise<Blob>;
}
/** Where an object is kept. Absent in options: the bucket's default. */
export type StoreStorageClass = "Standard" | "InfrequentAccess";
/** Headers that are stored with an object. */
export interface StoreHTTPMetadata {
    contentType?: string;
    contentLanguage?: string;
    contentDisposition?: string;
    contentEncoding?: string;
    cacheControl?: string;
    /** The `Expires` header. */
    cacheExpiry?: Date;
}
/** Hashes of the content. `md5` is there by default, except for multipart objects. */
export interface StoreChecksums {
    readonly md5?: ArrayBuffer;
    readonly sha1?: ArrayBuffer;
    readonly sha256?: ArrayBuffer;
    readonly sha384?: ArrayBuffer;
    readonly sha512?: ArrayBuffer;
    /** The same hashes in hexadecimal. */
    toJSON(): StoreStringChecksums;
}
/** {@link StoreChecksums} in hexadecimal. */
export interface StoreStringChecksums {
    md5?: string;
    sha1?: string;
    sha256?: string;
    sha384?: string;
    sha512?: string;
}
/**
 * Which bytes to return. A range longer than the object returns fewer bytes; one that begins
 * after its end is an error.
 */
export type StoreRange = {
    offset: number;
    length?: number;
} | {
    offset?: number;
    length: number;
} | {
    suffix: number;
};
/**
 * Conditions that must all hold. Entity tags are given without quotes; `*` stands for any. A
 * `Headers` object with `If-Match`, `If-None-Match`, `If-Modified-Since` or
 * `If-Unmodified-Since` (RFC 7232) may be given instead.
 */
export interface StoreConditional {
    etagMatches?: string;
    etagDoesNotMatch?: string;
    uploadedBefore?: Date;
    uploadedAfter?: Date;
    /** Compare dates by the second, as HTTP headers do. */
    secondsGranularity?: boolean;
}
export interface StoreGetOptions {
    onlyIf?: StoreConditional | Headers;
    /** The bytes to return, or a `Headers` object with `Range`. */
    range?: StoreRange | Headers;
    /**
     * Replaces fields of the stored metadata in the result. What is stored does not change.
     *
     * Deviation: the deployed binding has no such option.
     */
    httpMetadata?: StoreHTTPMetadata | Headers;
}
/** At most one of the five hashes may be given: the upload fails unless the content has it. */
export interface StorePutOptions {
    onlyIf?: StoreConditional | Headers;
    httpMetadata?: StoreHTTPMetadata | Headers;
    customMetadata?: Record<string, string>;
    md5?: ArrayBuffer | ArrayBufferView | string;
    sha1?: ArrayBuffer | ArrayBufferView | string;
    sha256?: ArrayBuffer | ArrayBufferView | string;
    sha384?: ArrayBuffer | ArrayBufferView | string;
    sha512?: ArrayBuffer | ArrayBufferView | string;
    storageClass?: StoreStorageClass;
}
export interface StoreMultipartOptions {
    httpMetadata?: StoreHTTPMetadata | Headers;
    customMetadata?: Record<string, string>;
    storageClass?: StoreStorageClass;
}
export interface StoreListOptions {
    /** At most this many objects and prefixes: 1 to 1000, 1000 by default. */
    limit?: number;
    /** Only keys that begin with it. */
    prefix?: string;
    /** Where the previous page ended. */
    cursor?: string;
    /** Keys that have it after the prefix are rolled up into `delimitedPrefixes`. */
    delimiter?: string;
    /** Only keys after this one. */
    startAfter?: string;
    /** The metadata that the listed objects should carry. */
    include?: ("httpMetadata" | "customMetadata")[];
}
/** One page of a listing. It may hold fewer than `limit` objects; ask `truncated` for more. */
export type StoreObjects = {
    objects: StoreObject[];
    delimitedPrefixes: string[];
} & ({
    truncated: true;
    cursor: string;
} | {
    truncated: false;
});
/** An upload in parts: in progress until completed, aborted, or 7 days old. */
export interface StoreMultipartUpload {
    readonly key: string;
    readonly uploadId: string;
    /**
     * Uploads a part. All parts but the last have one size, 5 MiB or more; the last may be
     * smaller. Uploading a part number again replaces the part.
     */
    uploadPart(partNumber: number, value: StoreValue): Promise<StoreUploadedPart>;
    /** Ends the upload and discards its parts. */
    abort(): Promise<void>;
    /** Makes the object out of the given parts, in the order of their numbers. */
    complete(parts: StoreUploadedPart[]): Promise<StoreObject>;
}
export interface StoreUploadedPart {
    partNumber: number;
    etag: string;
}
