/**
 * Operations on a bucket and their outcomes, as plain JSON.
 *
 * A sequence of operations is generated once, and then runs on several implementations: the model
 * in Node, the binding under test in workerd, and Miniflare's R2. A *mark* is an object with a `$`
 * field. It stands for a value that JSON cannot express (a Symbol, a Date, a stream), or that only
 * the implementation knows (the etag of a stored object, the id of an upload).
 * {@link file://./execute.ts} turns marks into values just before the call.
 */

export type Encoded =
  | null
  | boolean
  | number
  | string
  | readonly Encoded[]
  | Mark
  | { readonly [name: string]: Encoded };

export type Mark = PlainMark | ContentMark | DigestMark | RememberedMark;

type PlainMark =
  | { readonly $: "undefined" }
  | { readonly $: "symbol" }
  | { readonly $: "number"; readonly text: string }
  | { readonly $: "date"; readonly milliseconds: number | null }
  | { readonly $: "text"; readonly unit: string; readonly count: number }
  | { readonly $: "keys"; readonly count: number }
  | { readonly $: "headers"; readonly entries: readonly (readonly [string, Encoded])[] };

/** The kinds of value that `put` and `uploadPart` take. */
export const contentKinds = [
  "string",
  "ArrayBuffer",
  "Uint8Array",
  "subarray",
  "DataView",
  "Blob",
  "FixedLengthStream",
  "response body",
] as const;

/** Streams that a bucket refuses. */
export const brokenContentKinds = [
  "unknown length",
  "locked stream",
  "short stream",
  "failing stream",
] as const;

export interface ContentMark {
  readonly $: "content";
  readonly kind: (typeof contentKinds)[number] | (typeof brokenContentKinds)[number];
  readonly sizeBytes: number;
  /** Contents with different seeds differ. */
  readonly seed: number;
}

export const digestAlgorithms = ["md5", "sha1", "sha256", "sha384", "sha512"] as const;
export type DigestAlgorithm = (typeof digestAlgorithms)[number];

/** The digest of a content: a valid checksum for the options of `put`. */
export interface DigestMark {
  readonly $: "digest";
  readonly algorithm: DigestAlgorithm;
  readonly of: ContentMark;
  readonly form: "hex" | "HEX" | "ArrayBuffer" | "Uint8Array";
}

/** A value that the executor remembers from an earlier operation of the sequence. */
type RememberedMark =
  /** The etag of the last object stored under `key`. */
  | { readonly $: "etag"; readonly key: string; readonly form: "bare" | "strong" | "weak" }
  /** The upload time of that object plus `deltaMilliseconds`; `http` is the form of a header. */
  | {
      readonly $: "uploaded";
      readonly key: string;
      readonly deltaMilliseconds: number;
      readonly form: "Date" | "number" | "wholeSecond" | "http";
    }
  /** The result of `uploadPart`; with `age` 1, the previous result for the same part number. */
  | {
      readonly $: "part";
      readonly slot: number;
      readonly partNumber: number;
      readonly age: number;
    }
  /** The cursor that `list` saved in the slot; undefined if the page was not truncated. */
  | { readonly $: "cursor"; readonly slot: number };

/** The methods that read the body of a `get`. */
export const readings = ["arrayBuffer", "bytes", "text", "blob", "body", "cancel"] as const;

/** One call of one method. */
export interface Call {
  readonly method:
    | "head"
    | "get"
    | "put"
    | "delete"
    | "list"
    | "createMultipartUpload"
    | "resumeMultipartUpload"
    | "uploadPart"
    | "complete"
    | "abort";
  readonly args: readonly Encoded[];
  /** The slot of the upload that the call uses or creates. For `list`, the slot of its cursor. */
  readonly slot?: number;
  /** Resume the upload by its id, although the executor has the upload object. */
  readonly resume?: boolean;
  /** Resume the upload under this key instead of its own. */
  readonly underKey?: string;
  /** The method that reads the body of a `get`. */
  readonly read?: (typeof readings)[number];
  /** `list` follows the cursors to the last page. */
  readonly follow?: boolean;
  /** Compare the joined pages of `list`: a page may hold fewer objects than its limit. */
  readonly merge?: boolean;
  /** The specification requires an error, but does not define which. */
  readonly anyError?: boolean;
}

/** Concurrent calls of one turn. They share no key. */
interface Together {
  readonly together: readonly Call[];
}

/** A restart of the runtime. The model ignores it. */
interface Restart {
  readonly restart: true;
}

export type Operation = Call | Together;
export type Step = Operation | Restart;

export type Outcome =
  | { readonly value: Json }
  | { readonly error: { readonly name: string; readonly message: string } };

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Values that the executor remembers between operations and between requests. */
export interface Memory {
  objects: Record<string, { etag: string; uploaded: number }>;
  uploads: Record<string, { key: string; uploadId: string }>;
  parts: Record<string, string[]>;
  cursors: Record<string, string>;
}

export function emptyMemory(): Memory {
  return { objects: {}, uploads: {}, parts: {}, cursors: {} };
}

/** The request and the response of the script in `script.ts`. */
export interface ScriptRequest {
  readonly binding: string;
  readonly operations: readonly Operation[];
  readonly memory: Memory;
}

export interface ScriptResponse {
  /** One list for each operation: one outcome for a call, and one for each call of `together`. */
  readonly outcomes: Outcome[][];
  readonly memory: Memory;
}
