/**
 * Operations on a bucket, and what came of them, as plain JSON.
 *
 * A sequence of operations is generated once and then run by several parties: the in-memory
 * model in Node, the binding under test in workerd, and Miniflare's own R2. What JSON cannot say
 * (a Symbol, a Date, a stream), and what only the party itself can know (the etag of an object it
 * stored, the id of an upload it began), is a *mark*: an object with a `$` field, which
 * {@link file://./execute.ts} turns into the real value just before the call.
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

/** The kinds of value that can be given to `put` and `uploadPart`. */
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

/** Streams that no bucket may store. */
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

/** The digest of a content, so that a checksum that holds can be given with it. */
export interface DigestMark {
  readonly $: "digest";
  readonly algorithm: DigestAlgorithm;
  readonly of: ContentMark;
  readonly form: "hex" | "HEX" | "ArrayBuffer" | "Uint8Array";
}

/** Something the executing party remembers from an earlier operation of the sequence. */
type RememberedMark =
  /** The etag of the object that was last stored under `key`. */
  | { readonly $: "etag"; readonly key: string; readonly form: "bare" | "strong" | "weak" }
  /** When that object was uploaded, moved; in the `http` form as a header's date. */
  | {
      readonly $: "uploaded";
      readonly key: string;
      readonly deltaMilliseconds: number;
      readonly form: "Date" | "number" | "wholeSecond" | "http";
    }
  /** What `uploadPart` returned; with `age` 1, what it returned before that for the same number. */
  | {
      readonly $: "part";
      readonly slot: number;
      readonly partNumber: number;
      readonly age: number;
    }
  /** The cursor of the last truncated list that was told to remember it; otherwise undefined. */
  | { readonly $: "cursor"; readonly slot: number };

/** How a body that `get` returned is read. */
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
  /** Which upload is meant, or is made, or (for `list`) where its cursor is remembered. */
  readonly slot?: number;
  /** Take up the upload by its id even if the object that created it is at hand. */
  readonly resume?: boolean;
  /** Take up the upload under this key instead of its own. */
  readonly underKey?: string;
  /** How `get` reads the body. */
  readonly read?: (typeof readings)[number];
  /** `list` goes on with the cursor until the end. */
  readonly follow?: boolean;
  /** What all pages hold, without their bounds: a page may hold less than it could. */
  readonly merge?: boolean;
  /** The specification promises an error and leaves open which. */
  readonly anyError?: boolean;
}

/** Calls that are made in one turn, without waiting for one another. They share no key. */
interface Together {
  readonly together: readonly Call[];
}

/** The runtime is stopped and started again. A party without a runtime has nothing to do. */
interface Restart {
  readonly restart: true;
}

export type Operation = Call | Together;
export type Step = Operation | Restart;

export type Outcome =
  | { readonly value: Json }
  | { readonly error: { readonly name: string; readonly message: string } };

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** What a party remembers between operations, and from one request to the next. */
export interface Memory {
  objects: Record<string, { etag: string; uploaded: number }>;
  uploads: Record<string, { key: string; uploadId: string }>;
  parts: Record<string, string[]>;
  cursors: Record<string, string>;
}

export function emptyMemory(): Memory {
  return { objects: {}, uploads: {}, parts: {}, cursors: {} };
}

/** The request body of the script in `script.ts`, and its answer. */
export interface ScriptRequest {
  readonly binding: string;
  readonly operations: readonly Operation[];
  readonly memory: Memory;
}

export interface ScriptResponse {
  /** One list for each operation: a call has one outcome, `together` one for each call. */
  readonly outcomes: Outcome[][];
  readonly memory: Memory;
}
