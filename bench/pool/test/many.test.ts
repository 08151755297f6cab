/** Blocks of 200 tests, with an empty bucket and with a bucket of 100,000 objects. */
import { env } from "cloudflare:workers";
import { seed } from "ledge/test";
import { beforeAll, describe, expect, it } from "vitest";

const { STORE } = env as unknown as { STORE: StoreBucket };
const seeded = Array.from({ length: 100_000 }, (_, index) => `seeded/${index}`);

describe.each([
  ["none", []],
  ["100,000", seeded],
  ["none again", []],
])("%s", (_, keys) => {
  beforeAll(async () => {
    await seed(STORE, Object.fromEntries(keys.map((key) => [key, key])));
  });

  for (let test = 0; test < 200; test++) {
    it(`writes one object: ${test}`, async () => {
      expect(await STORE.head("written")).toBe(null);
      await STORE.put("written", String(test));
      await STORE.delete(`seeded/${test}`);
      expect((await STORE.list({ limit: 1 })).objects).toHaveLength(1);
    });
  }
});
