/** An export to a full device, and an import on it. */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { device, fill, free, ledge } from "./device.ts";

writeFileSync(join(device, "wrangler.json"), "{}");
const values = join(device, ".wrangler/state/v3/kv/sessions/blobs");
mkdirSync(values, { recursive: true });
// Random, so that an export of the values is not smaller than the values.
for (const name of ["1", "2"]) {
  writeFileSync(join(values, name), crypto.getRandomValues(new Uint8Array(60_000)));
}
const run = (...words: string[]) => ledge(device, "state", ...words);
const filesNow = (): string[] =>
  readdirSync(device, { recursive: true, encoding: "utf8" }).toSorted();

assert.equal((await run("save", "clean")).code, 0);
assert.equal((await run("export", "clean", "clean.tar.zst")).code, 0);
fill();
const before = filesNow();
for (const words of [
  ["export", "clean", "other.tar.zst"],
  ["import", "clean.tar.zst", "other"],
]) {
  const { code, error } = await run(...words);
  assert.match(error, /^No space left on the device that holds [^\n]+\n$/, words.join(" "));
  assert.equal(code, 1);
  assert.deepEqual(filesNow(), before, words.join(" "));
}
free();
assert.equal((await run("import", "clean.tar.zst", "other")).code, 0);
const { out } = await run("diff", "clean", "other");
assert.match(out, /^Nothing differs/);
