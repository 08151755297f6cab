import { expect, it } from "vitest";
import { freshMilliseconds, markOptions, unmarkKey } from "./moved-time.ts";

const now = 1_000_000;

it.each([
  [{ expirationTtl: 60 }, now + 60, undefined],
  [{ expirationTtl: 60.9, metadata: "text" }, now + 60, "text"],
  [{ expiration: now + 60, metadata: { a: 1 } }, now + 60, { a: 1 }],
  // As KV: the time to live counts.
  [{ expiration: 1, expirationTtl: 90 }, now + 90, undefined],
])(
  "markOptions() of %j makes metadata from which unmarkKey() reads it",
  (options, expiration, metadata) => {
    const { metadata: marked, ...rest } = markOptions(options, now) ?? {};
    expect(rest).toEqual({});
    const key = unmarkKey({ name: "a", metadata: JSON.parse(JSON.stringify(marked)) as unknown });
    expect(key).toEqual({ name: "a", expiration, ...(metadata !== undefined && { metadata }) });
  },
);

it.each([undefined, {}, { metadata: 1 }, { expirationTtl: 59 }, { expirationTtl: Number.NaN }])(
  "markOptions() leaves %j to KV",
  (options) => expect(markOptions(options, now)).toBe(options),
);

it.each([
  [now, "greater than the current number of seconds"],
  [now + 59, "at least 60 seconds in the future"],
])("markOptions() refuses the expiration %i", (expiration, text) => {
  expect(() => markOptions({ expiration }, now)).toThrow(text);
});

it.each([
  { name: "a" },
  { name: "a", expiration: 5 },
  { name: "a", metadata: null },
  { name: "a", metadata: "x" },
])("unmarkKey() leaves %j as it is", (key) => expect(unmarkKey(key)).toBe(key));

const storedAt = Date.parse("2030-01-01T00:00:00Z");
it.each([
  [{ "cache-control": "max-age=5" }, 5000],
  [{ "cache-control": 'public,MAX-AGE=5, s-maxage="7"' }, 7000],
  [{ "cache-control": "max-age=0", expires: "Wed, 02 Jan 2030 00:00:00 GMT" }, 0],
  [{ "cache-control": "max-age=5, stale-while-revalidate=10, stale-if-error=20" }, 25_000],
  [{ "cache-control": "max-age=5", age: "2" }, 3000],
  [{ expires: "Tue, 01 Jan 2030 00:01:00 GMT" }, 60_000],
  [{ "last-modified": "Mon, 31 Dec 2029 23:00:00 GMT" }, 360_000],
  [{ "x-max-age": "5" }, 0],
])("freshMilliseconds() of %j is %i", (headers, expected) => {
  expect(freshMilliseconds(new Headers(headers as HeadersInit), storedAt)).toBe(expected);
});
