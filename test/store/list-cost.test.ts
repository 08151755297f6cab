/** The cost of a page, as the number of rows that SQLite reads in the runtime: no clock. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build as viteBuild, type Rolldown } from "vite";
import { expect, it } from "vitest";
import { startStore, temporaryFolder } from "../support/store.ts";
import { worker } from "../support/worker.ts";

const source = (name: string): string =>
  fileURLToPath(new URL(`../../src/store/bucket/${name}.ts`, import.meta.url));

/** A Durable Object that has `count` keys in folders of 100, and lists as the bucket does. */
const script = `
  import { DurableObject } from "cloudflare:workers";
  import { listObjects } from ${JSON.stringify(source("object-list"))};
  import { createTables } from ${JSON.stringify(source("schema"))};

  export class Keys extends DurableObject {
    fill(count) {
      createTables(this.ctx.storage.sql);
      this.ctx.storage.sql.exec(
        "WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ? - 1) " +
          "INSERT INTO objects (key, fields, metadata) " +
          "SELECT printf('folder-%04d/file-%02d', n / 100, n % 100), " +
          "'[\\"version\\",0,\\"md5\\",1750000000000]', '[{},{\\"owner\\":\\"test\\"}]' FROM numbers",
        count,
      );
    }
    /** How many items the page has, and how many rows its statements have read. */
    list(query) {
      const cursors = [];
      const exec = (...args) => {
        const cursor = this.ctx.storage.sql.exec(...args);
        cursors.push(cursor);
        return cursor;
      };
      const page = listObjects({ exec }, {
        method: "list", prefix: "", delimiter: "", includeHttp: false, includeCustom: false, ...query,
      });
      const items = JSON.parse(page.objectsJson).length + page.prefixes.length;
      return { items, rowsRead: cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0) };
    }
  }
  export default {
    async fetch(request, env, { exports }) {
      const { name, count, query } = await request.json();
      const keys = exports.Keys.getByName(name);
      if (query !== undefined) return Response.json(await keys.list(query));
      await keys.fill(count);
      return Response.json(null);
    },
  };`;

async function bundled(): Promise<string> {
  const entry = join(temporaryFolder(), "script.js");
  writeFileSync(entry, script);
  const lib = { entry, formats: ["es" as const] };
  const build = { write: false, minify: false, lib, rolldownOptions: { external: /^cloudflare:/ } };
  const [{ output }] = (await viteBuild({ configFile: false, logLevel: "silent", build })) as [
    Rolldown.RolldownOutput,
  ];
  return output[0].code;
}

it("list() reads as many rows in a bucket of 50,000 keys as in a bucket of 5,000 keys", async () => {
  const { config } = worker(await bundled());
  const exports = { Keys: { type: "durable-object", storage: "sqlite" } };
  const { miniflare } = await startStore(temporaryFolder(), [
    { config: { ...config, exports } as typeof config },
  ]);
  const ask = async (message: object): Promise<unknown> => {
    const body = JSON.stringify(message);
    const response = await miniflare.dispatchFetch("http://script/", { method: "POST", body });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
  await ask({ name: "small", count: 5000 });
  await ask({ name: "large", count: 50_000 });
  const inFolder = { prefix: "folder-0042/", limit: 50 };
  const pages = {
    first: { limit: 1000 },
    "in a folder": inFolder,
    "with metadata": { ...inFolder, includeHttp: true, includeCustom: true },
    "of folders": { delimiter: "/", limit: 20 },
    "after a key": { startAfter: "folder-0030/file-50", limit: 100 },
  };
  for (const query of Object.values(pages)) {
    const small = (await ask({ name: "small", query })) as { items: number; rowsRead: number };
    expect({ query, ...small }).toMatchObject({ query, items: query.limit });
    expect(small.rowsRead).toBeLessThan(3 * query.limit + 10);
    expect({ query, ...((await ask({ name: "large", query })) as object) }).toEqual({
      query,
      ...small,
    });
  }
});
