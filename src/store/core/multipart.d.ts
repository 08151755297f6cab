export type UploadState = "in progress" | "completed" | "aborted";
/** A part as `complete` names it. */
export interface PartReference {
    readonly partNumber: number;
    readonly etag: string;
}
/** A part that was uploaded. Deviation: its entity tag is the md5 of its content. */
export interface StoredPart extends PartReference {
    readonly size: number;
}
/** When an upload that was created or finished at `time` ends, or is forgotten. */
export declare function uploadDeadline(time: number): number;
/** @throws TypeError, as the platform words it */
export declare function validatePartNumber(partNumber: number): void;
/** @throws StoreError 100100 when one put or part of this size is not taken */
export declare function validateUploadSize(size: number): void;
/**
 * The parts that make the object, in the order of their numbers. The order they are named in
 * does not matter, and numbers may be missing between them.
 *
 * @throws StoreError 10025 for a part that is not there or has another tag, 10011 for a part
 *   that is too small and not the last, 10048 for parts of unequal size, a last part larger than
 *   the others, a part named twice, or none at all
 */
export declare function selectParts<Part extends StoredPart>(named: readonly PartReference[], stored: ReadonlyMap<number, Part>): Part[];
/** The object's tag: the md5 of the parts' md5s, and how many there are. */
export declare function multipartEtag(parts: readonly StoredPart[], md5OfHex: (hex: string) => string): string;
