/** Unusual but valid calls: arguments that the platform coerces, or treats as absent. */
import * as fc from "fast-check";

import type { Call, ContentMark, Encoded } from "../operation.ts";
import { key } from "./keys.ts";

const undefinedMark = { $: "undefined" } as const;
const value: ContentMark = { $: "content", kind: "Uint8Array", sizeBytes: 10, seed: 7 };

/** The platform coerces these to strings: "5", "null", "undefined", "[object Object]". */
const coercedKey = fc.constantFrom<Encoded>(5, null, undefinedMark, {}, true);

const absentOptions = fc.constantFrom<Encoded>(
  null,
  undefinedMark,
  { onlyIf: null },
  { httpMetadata: null },
  { onlyIf: undefinedMark, httpMetadata: undefinedMark, range: undefinedMark, md5: undefinedMark },
);

const ignoredHeaders: Encoded = {
  onlyIf: { $: "headers", entries: [["if-modified-since", "no date"]] },
  range: { $: "headers", entries: [["x-range", "bytes=0-0"]] },
};

export const oddInput: fc.Arbitrary<Call> = fc.oneof(
  fc
    .tuple(fc.constantFrom("head" as const, "get" as const, "delete" as const), coercedKey)
    .map(([method, name]) => ({ method, args: [name] })),
  coercedKey.map((name): Call => ({ method: "put", args: [name, value] })),
  coercedKey.map((name): Call => ({ method: "delete", args: [["a", name]] })),
  fc
    .tuple(key, absentOptions)
    .map(([name, options]): Call => ({ method: "put", args: [name, value, options] })),
  fc
    .tuple(key, fc.oneof(absentOptions, fc.constant({ range: null }), fc.constant(ignoredHeaders)))
    .map(([name, options]): Call => ({ method: "get", args: [name, options] })),
  fc
    .constantFrom<Encoded>(null, undefinedMark, {}, { limit: "2" }, { cursor: undefinedMark })
    .map((options): Call => ({ method: "list", args: [options] })),
  fc
    .constantFrom<Encoded>("1", 1.5)
    .map((number): Call => ({ method: "uploadPart", args: [number, value], slot: 0 })),
);
