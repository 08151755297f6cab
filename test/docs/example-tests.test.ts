/** Runs the examples that are tests. */
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { runVitest } from "../tools/support/packed-project.ts";

it("examples/faults passes its tests", async () => {
  const folder = fileURLToPath(new URL("../../examples/faults", import.meta.url));
  const { status, output } = await runVitest(folder);
  expect(output).toMatch(/Tests +10 passed/);
  expect(status).toBe(0);
});
