import { describe, expect, it } from "vitest";
import type { StoreErrorCode } from "./errors.ts";
import { explainRefusal, type RefusedOperation } from "./explain-refusal.ts";

describe("explainRefusal()", () => {
  it.each<[StoreErrorCode, RefusedOperation, string | null]>([
    [10020, { key: "" }, "The key is empty."],
    [
      10020,
      { key: "é".repeat(600) },
      `The key "${"é".repeat(80)}..." has 1200 bytes in UTF-8; at most 1024 are allowed.`,
    ],
    [10020, { keys: ["a", ""] }, "The key is empty."],
    [10020, { keys: ["a"] }, null],
    [10012, { key: "cat" }, 'The metadata of "cat" has more than 8192 bytes, with the names.'],
    [10022, { limit: 0 }, "The limit is 0; it must be from 1 to 1000."],
    [
      10024,
      { key: 'a"b', uploadId: "u" },
      'The upload of "a\\"b" was completed or aborted, has expired, or never existed.',
    ],
    [10025, { key: "cat" }, 'A part of "cat" has another etag, or was not uploaded.'],
    [10011, { key: "cat" }, 'A part of "cat" that is not the last has less than 5242880 bytes.'],
    [10048, { key: "cat" }, 'The parts of "cat" are none, or one of them is named twice.'],
    [100100, { key: "cat" }, 'The value of "cat" is too large.'],
    [100100, { key: "cat", partNumber: 3 }, 'The part 3 of "cat" is too large.'],
    [
      10027,
      { keys: Array.from({ length: 1001 }, () => "k") },
      "The call has 1001 keys; 1 to 1000 are allowed.",
    ],
    [
      10039,
      { key: "cat", range: { offset: 9 } },
      'The range {"offset":9} is outside of the object "cat".',
    ],
    [10037, { key: "cat" }, 'The value of "cat" was not stored.'],
    [10001, { key: "cat" }, null],
  ])("%i of %o: %s", (code, operation, reason) => {
    expect(explainRefusal(operation, { code })).toBe(reason);
  });

  it("prefers the reason that the bucket gives", () => {
    const error = { code: 10048, reason: "Part 2 is larger." } as const;
    expect(explainRefusal({ key: "cat" }, error)).toBe("Part 2 is larger.");
  });
});
