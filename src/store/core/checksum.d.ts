export declare const checksumAlgorithms: {
    readonly md5: {
        readonly name: "MD5";
        readonly bytes: 16;
    };
    readonly sha1: {
        readonly name: "SHA-1";
        readonly bytes: 20;
    };
    readonly sha256: {
        readonly name: "SHA-256";
        readonly bytes: 32;
    };
    readonly sha384: {
        readonly name: "SHA-384";
        readonly bytes: 48;
    };
    readonly sha512: {
        readonly name: "SHA-512";
        readonly bytes: 64;
    };
};
export type ChecksumAlgorithm = keyof typeof checksumAlgorithms;
/** Hashes in lower-case hexadecimal. */
export type Checksums = {
    readonly [Algorithm in ChecksumAlgorithm]?: string;
};
/** The one hash that an upload must have. */
export interface ExpectedChecksum {
    readonly algorithm: ChecksumAlgorithm;
    readonly hex: string;
}
/**
 * The hash a caller gave, in lower-case hexadecimal.
 *
 * @throws TypeError when it cannot be a hash of this algorithm
 */
export declare function parseChecksum(algorithm: ChecksumAlgorithm, value: Uint8Array | string): ExpectedChecksum;
/** @throws StoreError 10037 when the content does not have the hash the caller gave */
export declare function verifyChecksum(expected: ExpectedChecksum | undefined, actual: Checksums): void;
/** The hashes to compute for an upload: md5 always, and the one the caller gave. */
export declare function requiredAlgorithms(expected: ExpectedChecksum | undefined): ChecksumAlgorithm[];
export declare function toHex(bytes: Uint8Array): string;
export declare function fromHex(hex: string): Uint8Array<ArrayBuffer>;
