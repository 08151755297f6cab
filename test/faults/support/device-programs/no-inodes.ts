/** A device with space and without free inodes: under a running store, and before a start. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bytesOf, sameBytes } from "../../../support/bytes.ts";
import { checkDatabases, device, ledge, rejection, startStore } from "./device.ts";

execFileSync("mount", ["-o", "remount,nr_inodes=150", device]);
const project = join(device, "project");
const state = join(project, ".wrangler/state/v3");
mkdirSync(project);
writeFileSync(
  join(project, "wrangler.jsonc"),
  JSON.stringify({ store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }] }),
);

let fillerCount = 0;
/** Takes all inodes, as another program would. */
function fillInodes(): void {
  try {
    for (;;) {
      writeFileSync(join(device, `filler-${fillerCount}`), "");
      fillerCount++;
    }
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
  }
}

const large = bytesOf(300_000);
writeFileSync(join(project, "large"), large);
let store = await startStore(state);
await store.bucket.put("small", "value");
await store.bucket.put("large", large);

// A running store reads, deletes, and takes values that need no file.
fillInodes();
assert.ok(sameBytes(await (await store.bucket.get("large"))?.bytes(), large));
assert.match(await rejection(store.bucket.put("other", large)), /free inodes \(df -i\)/);
await store.bucket.put("inline", "value");
await store.bucket.delete("inline");
// So does a command beside it, without a file of its own.
const got = await ledge(project, "store", "get", "photos/small", "-");
assert.deepEqual([got.code, got.out], [0, "value"], got.error);
assert.match((await ledge(project, "store", "list", "photos")).out, /large\n.*small\n$/);
const put = await ledge(project, "store", "put", "photos/other", "large");
assert.notEqual(put.code, 0);
assert.match(put.error, /free inodes \(df -i\)/);
await store.stop();

// A start gives up the spare files.
fillInodes();
const listed = await ledge(project, "store", "list", "photos");
assert.match(
  listed.error,
  /^No free inodes on the device that holds \S+\/store: .*Reads and deletes/,
);
assert.equal(listed.code, 0, listed.error);
assert.match(listed.out, /large\n.*small\n$/);

// Without spare files there is one message.
rmSync(join(state, "store/databases/reserve-files"), { recursive: true, force: true });
fillInodes();
const message = /^No free inodes on the device that holds \S+: .*Remove files from this device/;
assert.match(await rejection(startStore(state)), message);
const refused = await ledge(project, "store", "list", "photos");
assert.notEqual(refused.code, 0);
assert.match(refused.error, message);

for (let count = 0; count < fillerCount; count++) rmSync(join(device, `filler-${count}`));
store = await startStore(state);
assert.equal((await store.bucket.list()).objects.length, 2);
await store.bucket.put("other", large);
await store.stop();
checkDatabases(state);
