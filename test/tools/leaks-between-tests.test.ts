/**
 * One file of `fixtures/bindings`: each kind of state, written by one test and looked for by the next. The
 * gate runs this file; `binding-isolation.test.ts` runs all files, in several orders.
 */
import { expect, it } from "vitest";
import { leakingKinds } from "./support/leaking-kinds.ts";

it("a test sees nothing that another test did to any binding", async () => {
  const { leaking, kept } = await leakingKinds("");
  expect(leaking).toEqual([]);
  expect(kept.length).toBeGreaterThan(15);
});

it("the same tests fail without isolation", async () => {
  const { leaking, kept } = await leakingKinds("no");
  expect(leaking.length).toBeGreaterThan(15);
  expect(kept).toEqual([]);
});
