/** Contents, metadata, conditions and ranges. */
import * as fc from "fast-check";

import {
  contentKinds,
  digestAlgorithms,
  type ContentMark,
  type DigestMark,
  type Encoded,
} from "../operation.ts";

type Fields = Record<string, Encoded>;

/** The store keeps values up to this size in the database, and larger values in files. */
const inlineSizeBytesMax = 128 * 1024;

const sizeBytes = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(0, 1, 2, 10, 1000, 4096) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(inlineSizeBytesMax - 1, inlineSizeBytesMax, inlineSizeBytesMax + 1),
  },
  { weight: 1, arbitrary: fc.constant(300_000) },
);

const seed = fc.nat({ max: 3 });

export const content: fc.Arbitrary<ContentMark> = fc.record({
  $: fc.constant("content" as const),
  kind: fc.constantFrom(...contentKinds),
  sizeBytes,
  seed,
});

export function digestOf(of: ContentMark): fc.Arbitrary<DigestMark> {
  return fc.record({
    $: fc.constant("digest" as const),
    algorithm: fc.constantFrom(...digestAlgorithms),
    of: fc.constant(of),
    form: fc.constantFrom(
      "hex" as const,
      "HEX" as const,
      "ArrayBuffer" as const,
      "Uint8Array" as const,
    ),
  });
}

const expiry = Date.UTC(2030, 5, 1, 12);

export const httpMetadata: fc.Arbitrary<Encoded> = fc.oneof(
  fc.record(
    {
      contentType: fc.constantFrom("text/plain", "application/json", ""),
      contentLanguage: fc.constantFrom("en", "de-CH"),
      contentDisposition: fc.constant('attachment; filename="a.txt"'),
      contentEncoding: fc.constant("identity"),
      cacheControl: fc.constant("max-age=60, public"),
      cacheExpiry: fc.constantFrom<Encoded>({ $: "date", milliseconds: expiry }, expiry + 1),
    },
    { requiredKeys: [] },
  ),
  fc
    .subarray<readonly [string, Encoded]>([
      ["Content-Type", "text/html"],
      ["content-language", "fr"],
      ["Content-Disposition", "inline"],
      ["content-encoding", "identity"],
      ["cache-control", "no-store"],
      ["expires", new Date(expiry).toUTCString()],
      ["x-other", "not stored"],
    ])
    .map((entries) => ({ $: "headers" as const, entries })),
);

export const customMetadata: fc.Arbitrary<Encoded> = fc.record(
  {
    a: fc.constantFrom<Encoded>("", "1", "\u{1F600}", "line\nbreak", "\uD800", 5, null, false),
    "ключ-2": fc.constantFrom("значение", "v".repeat(500)),
    with_underscore: fc.constant("x"),
  },
  { requiredKeys: [] },
);

export const storageClass = fc.constantFrom("Standard", "InfrequentAccess");

/** Conditions may use the etag of another key, but only the date of their own key. */
function bareEtag(key: string): fc.Arbitrary<Encoded> {
  return fc.constantFrom<Encoded>(
    { $: "etag", key, form: "bare" },
    { $: "etag", key, form: "bare" },
    { $: "etag", key: "b", form: "bare" },
    "*",
    "0123",
  );
}

function uploaded(key: string): fc.Arbitrary<Encoded> {
  return fc.oneof(
    fc.record({
      $: fc.constant("uploaded" as const),
      key: fc.constant(key),
      deltaMilliseconds: fc.constantFrom(-1, 0, 1, -5000, 5000),
      form: fc.constantFrom("Date" as const, "number" as const),
    }),
    fc.constantFrom<Encoded>(
      { $: "date", milliseconds: 0 },
      { $: "date", milliseconds: Date.UTC(2100, 0, 1) },
    ),
  );
}

function uploadedInWholeSeconds(key: string, form: "http" | "wholeSecond"): fc.Arbitrary<Encoded> {
  return fc.record({
    $: fc.constant("uploaded" as const),
    key: fc.constant(key),
    deltaMilliseconds: fc.constantFrom(-1000, 0, 1000),
    form: fc.constant(form),
  });
}

/** Mostly one condition: of several conditions, one nearly always fails. */
function conditions(fields: Record<string, fc.Arbitrary<Encoded>>): fc.Arbitrary<Fields> {
  const singles = Object.entries(fields).map(([name, value]) =>
    value.map((chosen): Fields => ({ [name]: chosen })),
  );
  return fc.oneof(
    { weight: 3, arbitrary: fc.oneof(...singles) },
    { weight: 2, arbitrary: fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<Fields> },
  );
}

export function onlyIf(key: string): fc.Arbitrary<Encoded> {
  const tags = { etagMatches: bareEtag(key), etagDoesNotMatch: bareEtag(key) };
  const inWholeSeconds = uploadedInWholeSeconds(key, "wholeSecond");
  return fc.oneof(
    conditions({ ...tags, uploadedBefore: uploaded(key), uploadedAfter: uploaded(key) }),
    conditions({ ...tags, uploadedBefore: inWholeSeconds, uploadedAfter: inWholeSeconds }).map(
      (fields) => Object.assign({ secondsGranularity: true }, fields),
    ),
    onlyIfHeaders(key),
  );
}

function onlyIfHeaders(key: string): fc.Arbitrary<Encoded> {
  const tag = fc.constantFrom<Encoded>(
    { $: "etag", key, form: "strong" },
    { $: "etag", key, form: "weak" },
    { $: "etag", key: "b", form: "strong" },
    '"0123", W/"4567"',
    "*",
  );
  const since = uploadedInWholeSeconds(key, "http");
  return conditions({
    "If-Match": tag,
    "if-none-match": tag,
    "If-Modified-Since": since,
    "If-Unmodified-Since": since,
  }).map((fields) => ({ $: "headers" as const, entries: Object.entries(fields) }));
}

const position = fc.constantFrom(0, 1, 2, 9, 10, 999, 1000, 131_072, 299_999, 300_000);

export const range: fc.Arbitrary<Encoded> = fc.oneof(
  fc.record({ offset: position, length: position }, { requiredKeys: [] }),
  fc.record({ suffix: position }),
  fc
    .constantFrom(
      "bytes=0-0",
      "bytes=1-",
      "bytes=-1",
      "bytes=0-131071",
      "bytes=131072-131072",
      "bytes=5-2",
      "bytes=-0",
      "bytes=0-1,3-4",
      "bytes=400000-",
      "lines=0-1",
      "nonsense",
    )
    .map((text) => ({ $: "headers" as const, entries: [["Range", text]] as const })),
);
