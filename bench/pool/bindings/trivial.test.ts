/** Tests that touch no binding. */
import { beforeAll, expect, it } from "vitest";
import { seed, testCount } from "./seeded-tests.ts";

beforeAll(seed);

for (let test = 0; test < testCount; test++) {
  it(`adds: ${test}`, () => {
    expect(test + test).toBe(2 * test);
  });
}
