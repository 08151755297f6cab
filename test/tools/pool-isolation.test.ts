/** Tests that fail when anything of another is left, in several orders. All of 50: `npm run test:orders`. */
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { runVitest } from "./support/packed-project.ts";

const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));

it("leaves nothing of a test to another, in whatever order they run", async () => {
  const { status, output } = await runVitest(fixture("isolation"), [], { SEEDS: "2" });
  expect(output).not.toContain("FAIL");
  expect(output).toMatch(/Tests +56 passed \| 4 expected fail \| 2 skipped/);
  expect(status).toBe(0);
});
