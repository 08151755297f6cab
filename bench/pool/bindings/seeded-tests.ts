/** Tests that write to KV, D1 and a Durable Object, and read what was seeded. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { Counter } from "./index.ts";

/** `vitest.config.ts` defines this constant. */
declare const testCount: number;

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

/** @param isClean whether a test sees only the seeds */
export function writeToAll({ isClean }: { readonly isClean: boolean }): void {
  for (let test = 0; test < testCount; test++) {
    it(`writes: ${test}`, async () => {
      expect(await KV.get("seed 9")).toBe("value");
      const rows = await DB.prepare("SELECT count(*) AS n FROM photos").first<number>("n");
      await KV.put("key", "value");
      await DB.prepare("INSERT INTO photos VALUES (?)").bind("new").run();
      const count = await COUNTER.getByName("a").count();
      expect(isClean ? [rows, count] : [1, 2]).toEqual([1, 2]);
    });
  }
}
