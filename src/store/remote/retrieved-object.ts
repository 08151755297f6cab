import type { ByteRange } from "../core/byte-range.ts";
import type { DescribedObject } from "../core/operations.ts";

/** The answer to a `get`. */
export type RemoteObject =
  | {
      readonly status: "found";
      readonly object: DescribedObject;
      readonly range: ByteRange;
      /** As in the operation. */
      readonly partsCount?: number;
      /** Small content is in memory. The caller reads or cancels a stream; it fails if the content breaks off. */
      readonly content: ArrayBuffer | ReadableStream<Uint8Array>;
    }
  | { readonly status: "condition failed"; readonly object: DescribedObject };
