/** Runs `fixtures/isolation` in 2 orders; `SEEDS=50` in that folder runs 50. */
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { runVitest } from "./support/packed-project.ts";

const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));

it("a test sees no state of another test, in any order", async () => {
  const { status, output } = await runVitest(fixture("isolation"), [], { SEEDS: "2" });
  expect(output).not.toContain("FAIL");
  expect(output).toMatch(/Tests +59 passed \| 4 expected fail \| 2 skipped/);
  expect(status).toBe(0);
});
