/** The difference of states that a runtime has written, with a binding of each kind. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeDifference, placeNames } from "../../src/saved/difference.ts";
import { FolderState } from "../../src/saved/folder-state.ts";
import { runInProcess } from "../support/in-process-command.ts";
import { createStateProject, firstSteps, startStateDev } from "../support/state-project.ts";

const names = placeNames({
  kv_namespaces: [{ binding: "KV", id: "0f2ac74b498b48028cb68387c421e279" }],
  d1_databases: [{ binding: "DB", database_id: "e1-d2", database_name: "shop" }],
});

async function changes(state: FolderState, from: string, to?: string): Promise<string[]> {
  return describeDifference(await state.diff(from, to)).toSorted();
}

it("diffStates() names what a script and the record API have changed, in every binding", async () => {
  const folder = createStateProject();
  const state = new FolderState(join(folder, ".wrangler/state"), { names });
  const dev = await startStateDev(folder);
  await dev.run(...firstSteps);
  await state.save("first");
  expect(await changes(state, "first")).toEqual([]);

  await dev.run(
    ["bucketDelete", "small"],
    ["bucket", "new", "n"],
    // The same content again, and the same content with other metadata.
    ["bucket", "large", "l".repeat(200_000)],
    ["kv", "a", "1"],
    ["kv", "b", "2", { metadata: { from: "script" } }],
    ["d1", "INSERT INTO users VALUES (3, 'cleo')"],
    ["d1", "UPDATE users SET name = 'bert' WHERE id = 2"],
    ["d1", "CREATE INDEX by_name ON users (name)"],
    ["r2", "r", "r", { customMetadata: { a: "1" } }],
    ["cache", "other", "cached too"],
    ["object", "lobby", "put", "n", 2],
    ["object", "lobby", "sql", "CREATE TABLE visits (at INTEGER)"],
    ["object", "hall", "setAlarm", Date.now() + 3_600_000],
  );
  const added = await runInProcess(folder, ["dns", "add", "example.com", "www", "A", "192.0.2.1"]);
  expect(added.code).toBe(0);
  const expected = [
    "D1 shop: index by_name added",
    "D1 shop: table users: row 2 changed",
    "D1 shop: table users: row 3 added",
    "Durable Object Counter hall: alarm added",
    "Durable Object Counter lobby: key n changed",
    "Durable Object Counter lobby: table visits added",
    "KV KV: key b changed",
    "R2 files: key r changed",
    "bucket photos: key new added",
    "bucket photos: key small removed",
    "cache default: key http://cached.example/other added",
    "zone example.com: www A 192.0.2.1 added",
  ];
  expect(await changes(state, "first")).toEqual(expected);

  await state.save("second");
  await dev.stop();
  expect(await changes(state, "first", "second")).toEqual(expected);
  expect(await changes(state, "second")).toEqual([]);
  expect((await changes(state, "second", "first"))[2]).toBe("D1 shop: table users: row 3 removed");
});
