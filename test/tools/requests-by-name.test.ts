/** Runs `fixtures/edge`: names in tests. */
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { runVitest } from "./support/packed-project.ts";

it("names lead to scripts, buckets and origins in tests", async () => {
  const fixture = fileURLToPath(new URL("fixtures/edge", import.meta.url));
  const { status, output } = await runVitest(fixture);
  expect(output).not.toContain("FAIL");
  expect(output).toMatch(/Tests +22 passed/);
  expect(status).toBe(0);
});
