/**
 * A store whose values are all in its database, on a full device. The database does not become
 * smaller by deletes, but its free pages are used again.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { bytesOf, sameBytes } from "../../../support/bytes.ts";
import {
  checkDatabases,
  device,
  fill,
  rejection,
  reserveExists,
  startStore,
  until,
} from "./device.ts";

const folder = join(device, "v3");
const size = 100_000;
const store = await startStore(folder);
const { bucket } = store;
const keys: string[] = [];
await bucket.put("first", bytesOf(size));
await until("the reserve", () => reserveExists(join(folder, "store/databases")));
let failure: string | undefined;
while (failure === undefined) {
  const key = `key-${keys.length}`;
  failure = await bucket.put(key, bytesOf(size, keys.length)).then(
    () => void keys.push(key),
    (error: Error) => error.message,
  );
}
assert.match(failure, /No.* space left on the device/);
assert.ok(keys.length > 25);
fill();
await bucket.delete(keys.slice(0, 20));
for (let round = 0; round < 2; round++) {
  for (let index = 0; index < 10; index++) await bucket.put(`again-${index}`, bytesOf(size, round));
}
assert.match(await rejection(bucket.put("large", bytesOf(300_000))), /No.* space left/);
const left = keys.slice(20);
for (const key of left) {
  const seed = Number(key.slice("key-".length));
  assert.ok(sameBytes(await (await bucket.get(key))?.bytes(), bytesOf(size, seed)), key);
}
assert.equal((await bucket.list()).objects.length, 1 + left.length + 10);
await store.stop();
checkDatabases(folder);
