/** Tests that put and read ten objects each, and expect an empty bucket. */
import { expect, it } from "vitest";

/** `vitest.config.ts` defines this constant. */
declare const TESTS: number;

interface Bucket {
  put(key: string, value: string): Promise<unknown>;
  get(key: string): Promise<{ text(): Promise<string> } | null>;
}

export function putAndRead(bucket: Bucket): void {
  for (let test = 0; test < TESTS; test++) {
    it(`puts and reads ten objects: ${test}`, async () => {
      expect(await bucket.get("0")).toBe(null);
      for (let key = 0; key < 10; key++) await bucket.put(String(key), `${test} ${key}`);
      for (let key = 0; key < 10; key++) {
        expect(await (await bucket.get(String(key)))?.text()).toBe(`${test} ${key}`);
      }
    });
  }
}
