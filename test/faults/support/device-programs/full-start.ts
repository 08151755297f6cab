/** Starts on a full device: without a reserve one message that names the folder, and no stack. */
import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bytesOf } from "../../../support/bytes.ts";
import {
  blobFiles,
  device,
  fill,
  free,
  ledge,
  rejection,
  reserveExists,
  startStore,
  until,
} from "./device.ts";

const project = join(device, "project");
const state = join(project, ".wrangler/state/v3");
mkdirSync(project);
writeFileSync(
  join(project, "wrangler.jsonc"),
  JSON.stringify({
    name: "project",
    main: "index.js",
    compatibility_date: "2026-08-01",
    store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
  }),
);
writeFileSync(join(project, "index.js"), "export default { fetch: () => new Response('ok') };");

let store = await startStore(state);
await store.bucket.put("small", "value");
await store.bucket.put("large", bytesOf(300_000));
await until("the reserve", () => reserveExists(join(state, "store/databases")));
await store.stop();

// With a reserve, a start reads and deletes.
fill();
const listed = await ledge(project, "store", "list", "photos");
assert.equal(listed.code, 0, listed.error);
assert.match(listed.out, /large/);
fill();

// Without a reserve there is one message.
rmSync(join(state, "store/databases/reserve"), { force: true });
fill();
const message = new RegExp(`No space left on the device that holds ${state}/(?:store|dns)\\.`);
assert.match(await rejection(startStore(state)), message);
for (const words of [
  ["store", "list", "photos"],
  ["dev", "--port", "0"],
  ["dns", "zones"],
]) {
  const { code, out, error } = await ledge(project, ...words);
  const text = `${out}${error}`;
  assert.notEqual(code, 0, words.join(" "));
  assert.match(text, message, words.join(" "));
  assert.doesNotMatch(text, /^\s+at /m, words.join(" "));
}

free();
store = await startStore(state);
assert.equal((await store.bucket.list()).objects.length, 2);
assert.equal(blobFiles(state).length, 1);
await store.stop();
