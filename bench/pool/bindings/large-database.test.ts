/** Tests that write a row to D1, in databases of different sizes. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";

const { DB } = env as unknown as { DB: D1Database };

const insert =
  "INSERT INTO photos WITH RECURSIVE numbers (n) AS " +
  "(SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT 10000) SELECT randomblob(1000) FROM numbers";

const blocks = { none: 0, "100 MB": 100, "none again": 0 };

describe.for(Object.entries(blocks))("%s", ([, megabytes]) => {
  beforeAll(async () => {
    await DB.exec("CREATE TABLE photos (name)");
    for (let count = 0; count < megabytes; count += 10) await DB.exec(insert);
  });

  for (let test = 0; test < 200; test++) {
    it(`writes: ${test}`, async () => {
      const { count } = await DB.exec("INSERT INTO photos VALUES ('new')");
      expect(count).toBe(1);
    });
  }
});
