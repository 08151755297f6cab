/** Buckets with many keys, so that pages end within groups. */
import * as fc from "fast-check";

import type { Call, Encoded, Operation } from "../operation.ts";

const segment = fc.constantFrom("", "a", "b", "ab", "\u{1F600}", "\uFF5E", "\u0000", "é", "0", "~");

/** Up to four segments. Many keys share a prefix, and some prefixes have hundreds of keys. */
const key = fc
  .tuple(fc.array(segment, { minLength: 1, maxLength: 4 }), fc.constantFrom("/", "/", "//", "-"))
  .map(([segments, separator]) => segments.join(separator))
  .filter((name) => name !== "");

const listing: fc.Arbitrary<Call> = fc
  .record(
    {
      limit: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constant(1000)),
      prefix: fc.constantFrom("", "a", "a/", "a/b", "\u{1F600}/", "\u0000", "/"),
      delimiter: fc.constantFrom("/", "//", "-", "a", "b/", "\u{1F600}"),
      startAfter: key,
    },
    { requiredKeys: ["limit"] },
  )
  .map((options) => ({ method: "list", args: [options], follow: true }));

/** All puts in one turn, and then many full listings with different options. */
export function largeBucket(keysMax: number): fc.Arbitrary<Operation[]> {
  return fc
    .tuple(
      fc.uniqueArray(key, { minLength: 100, maxLength: keysMax, size: "max" }),
      fc.array(listing, { minLength: 30, maxLength: 30 }),
    )
    .map(([names, listings]) => {
      const operations: Operation[] = [{ together: names.map((name) => put(name)) }];
      return operations.concat(listings);
    });
}

/** Metadata that exceeds a page. Only the joined pages are defined, not where each page ends. */
export const heavyBucket: readonly Operation[] = [
  {
    together: Array.from({ length: 100 }, (_, index) =>
      put(`key ${index}`, { customMetadata: { a: { $: "text", unit: "v", count: 8000 } } }),
    ),
  },
  ...[["customMetadata"], ["httpMetadata", "customMetadata"], []].map((include): Call => ({
    method: "list",
    args: [{ include }],
    follow: true,
    merge: true,
  })),
];

function put(name: string, options: Encoded = {}): Call {
  return { method: "put", args: [name, null, options] };
}
