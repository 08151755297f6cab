/** Runs `fixtures/bindings` in 2 orders; `SEEDS=50` in that folder runs 50 orders. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { leakingKinds } from "./support/leaking-kinds.ts";
import { runVitest } from "./support/packed-project.ts";

const fixture = fileURLToPath(new URL("fixtures/bindings", import.meta.url));

it("a test sees nothing that another test did to any binding, in any order", async () => {
  const { status, output } = await runVitest(fixture, [], { SEEDS: "2" });
  expect(output).not.toContain("FAIL");
  // In each order, all files run beside other workers, and 5 files with the script alone.
  const fileCount = 2 * (readdirSync(join(fixture, "test")).length + 5);
  expect(output).toContain(`${fileCount} passed (${fileCount})`);
  // In each order, a test skips itself in both places.
  expect(output).toMatch(/Tests +\d+ passed \| \d+ expected fail \| 4 skipped/);
  expect(output.match(/\d+ databases are intact/g)).toHaveLength(fileCount);
  // What the runtime says about bodies that tests have left unread.
  expect(output).not.toContain("Application called abortAllDurableObjects()");
  expect(status).toBe(0);
});

it("isolates only the kinds that the option names", async () => {
  const { leaking, kept } = await leakingKinds("kv,cache");
  expect(kept).toEqual(["keys of KV", "large values of KV", "entries of caches"]);
  expect(leaking).toContain("rows of D1");
  expect(leaking).toContain("objects of a bucket");
});

it("says which kinds there are", async () => {
  const { status, output } = await runVitest(fixture, [], { ISOLATE: "kv,queues" });
  expect(output).toContain("isolate[1] is no kind of binding; known are store, dns, kv, d1,");
  expect(status).toBe(1);
});
