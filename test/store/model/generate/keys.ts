/** A small set of difficult keys: operations collide, and UTF-8 and UTF-16 order differ. */
import * as fc from "fast-check";

/** Keys of most operations. */
const hotKeys = [
  "a",
  "a/b",
  "a/b/c",
  "a\u0000b",
  // UTF-8 puts U+1F600 after U+FF5E; UTF-16 code units (0xD83D, 0xFF5E) put it before.
  "\u{1F600}/x",
  "\uFF5E/x",
] as const;

const coldKeys = [
  "a/",
  "a//b",
  // This key sorts between "a" and "a/": a listing must not skip it.
  "a!/b",
  "a-b",
  "/",
  "//",
  "b",
  "a\u0000",
  "\u{1F600}",
  "\uFF5E",
  // These two are the same key after the replacement of lone surrogates.
  "a\uD800",
  "a\uFFFD",
  "é",
  "e\u0301",
  'q"?#%2F\\ \n',
] as const;

export const keys: readonly string[] = [...hotKeys, ...coldKeys];

export const key: fc.Arbitrary<string> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...hotKeys) },
  { weight: 1, arbitrary: fc.constantFrom(...coldKeys) },
);

export const prefix: fc.Arbitrary<string> = fc.constantFrom(
  "",
  "",
  "a",
  "a",
  "a/",
  "a/",
  "a/b",
  "a//",
  "/",
  "a!",
  "\u{1F600}",
  "\uFF5E/",
  "a\uD800",
  "nothing begins with this",
);

export const delimiter: fc.Arbitrary<string> = fc.constantFrom(
  "/",
  "/",
  "",
  "//",
  "/b",
  "!",
  "\u{1F600}",
  "-",
);

/** Texts that contain or follow NUL: SQLite's text functions stop at NUL. */
export const textAroundNul: fc.Arbitrary<string> = fc.constantFrom(
  "\u0000",
  "a\u0000",
  "a\u0000b",
  "b",
);
