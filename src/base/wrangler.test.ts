import { describe, expect, it } from "vitest";
import { testedVersions } from "./tested-versions.ts";
import { requireParts } from "./wrangler.ts";

describe("requireParts()", () => {
  const parts = requireParts<{ present: number; missing?: number }>({ present: 1 }, "wrangler 9.0");

  it("returns a part", () => {
    expect(parts.present).toBe(1);
  });

  it("names a part that is missing, and a version that has it", () => {
    expect(() => parts.missing).toThrow(
      `wrangler 9.0 has no missing, which Ledge uses. Install wrangler@${testedVersions.wrangler[1]}, ` +
        "with which Ledge was tested, or a newer version of ledge.",
    );
  });
});
