/** A device that is mounted read-only: before a start, and under a running store. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { bytesOf, sameBytes } from "../../../support/bytes.ts";
import { checkDatabases, device, rejection, startStore } from "./device.ts";

const folder = join(device, "v3");
const remount = (mode: "ro" | "rw"): void => {
  execFileSync("mount", ["-o", `remount,${mode}`, device]);
};

let store = await startStore(folder);
await store.bucket.put("small", "value");
await store.bucket.put("large", bytesOf(300_000));
await store.stop();

remount("ro");
assert.equal(
  await rejection(startStore(folder)),
  `Cannot write to ${folder}/store: its device is mounted read-only. ` +
    "Mount it for writing. " +
    "Or name another folder for the state (--persist-to).",
);
remount("rw");

store = await startStore(folder);
assert.equal(await (await store.bucket.get("small"))?.text(), "value");
assert.ok(sameBytes(await (await store.bucket.get("large"))?.bytes(), bytesOf(300_000)));
await store.stop();
checkDatabases(folder);
