/** Tests that read what was seeded in KV and D1, and tests that write to KV, D1 and a Durable Object too. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { Counter } from "./index.ts";

/** `vitest.config.ts` defines these constants. */
declare const TESTS: number;
/** Whether a test sees only the seeds */
declare const IS_CLEAN: boolean;

export const testCount = TESTS;

const { KV, DB, COUNTER } = env as unknown as {
  KV: KVNamespace;
  DB: D1Database;
  COUNTER: DurableObjectNamespace<Counter>;
};

export async function seed(): Promise<void> {
  for (let key = 0; key < 10; key++) await KV.put(`seed ${key}`, "value");
  await DB.exec("CREATE TABLE photos (name TEXT); INSERT INTO photos VALUES ('seed')");
  await COUNTER.getByName("a").count();
}

export function readFromAll(): void {
  for (let test = 0; test < testCount; test++) {
    it(`reads: ${test}`, async () => {
      expect(await KV.get("seed 9")).toBe("value");
      expect(await DB.prepare("SELECT name FROM photos").first("name")).toBe("seed");
    });
  }
}

export function writeToAll(): void {
  for (let test = 0; test < testCount; test++) {
    it(`writes: ${test}`, async () => {
      expect(await KV.get("seed 9")).toBe("value");
      const rows = await DB.prepare("SELECT count(*) AS n FROM photos").first<number>("n");
      await KV.put("key", "value");
      await DB.prepare("INSERT INTO photos VALUES (?)").bind("new").run();
      const count = await COUNTER.getByName("a").count();
      expect(IS_CLEAN ? [rows, count] : [1, 2]).toEqual([1, 2]);
    });
  }
}
