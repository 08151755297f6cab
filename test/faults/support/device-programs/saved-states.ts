/** Saves and restores on a device that is full. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { FolderState } from "../../../../src/saved/folder-state.ts";
import { device, fill, free } from "./device.ts";

const folder = join(device, "state");
const values = join(folder, "v3/kv/names/blobs");
const database = join(folder, "v3/d1/objects/d.sqlite");
mkdirSync(values, { recursive: true });
mkdirSync(join(database, ".."), { recursive: true });

function write(text: string): void {
  const opened = new DatabaseSync(database);
  opened.exec("CREATE TABLE IF NOT EXISTS t (v)");
  opened.prepare("INSERT INTO t VALUES (?)").run(text.repeat(50_000));
  opened.close();
}

function files(): string[] {
  return readdirSync(join(folder, "saved"), { recursive: true, encoding: "utf8" }).toSorted();
}

const state = new FolderState(folder);
writeFileSync(join(values, "a"), "a");
write("one");
await state.save("one");
write("two");
writeFileSync(join(values, "b"), "b");
const before = files();
fill();
await assert.rejects(state.save("two"), {
  name: "UserError",
  message:
    /^No space left on the device that holds \S+: the state "two" was not saved, and nothing else has changed\./,
});
assert.deepEqual(files(), before);
await assert.rejects(state.restore("one"), {
  name: "UserError",
  message: /[Nn]o(t enough)? space left on the device/,
});
await assert.rejects(
  state.reset().then(() => state.restore("one")),
  { name: "UserError" },
);
free();
await state.restore("one");
assert.deepEqual(readdirSync(values), ["a"]);
await state.delete("one");
rmSync(folder, { recursive: true });
assert.equal(existsSync(folder), false);
console.log("done");
