/** A store on a device that becomes full while the store runs, and has space again. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { startExplorer, startS3 } from "../../../../dist/index.js";
import { S3TestClient, type Received } from "../../../s3/support/s3-client.ts";
import { bytesOf, sameBytes } from "../../../support/bytes.ts";
import { openExplorerLink } from "../../../support/explorer-access.ts";
import {
  blobFiles,
  checkDatabases,
  device,
  fill,
  free,
  rejection,
  reserveExists,
  startStore,
  until,
} from "./device.ts";

const folder = join(device, "v3");
const noSpace = new RegExp(`^\\w+: No.* space left on the device that holds ${folder}/store`);
const small = 1000;
const large = 300_000;

let store = await startStore(folder);
let { bucket } = store;
for (let index = 0; index < 20; index++) await bucket.put(`small-${index}`, bytesOf(small, index));
await bucket.put("large", bytesOf(large));
await bucket.put("large-2", bytesOf(large, 2));
const upload = await bucket.createMultipartUpload("upload");
await upload.uploadPart(1, bytesOf(large, 3));
await until("the reserve", () => reserveExists(join(folder, "store/databases")));
/** What the S3-compatible API reports about itself. A full device is no fault of the server. */
const reported: unknown[] = [];
const server = await startS3({
  stateFolder: device,
  buckets: [{ name: "photos" }],
  port: 0,
  onError: (error) => reported.push(error),
});
const s3 = new S3TestClient(server);
const explorer = await startExplorer({
  stateFolder: device,
  buckets: ["photos"],
  port: 0,
  onError: (error) => reported.push(error),
});
const filesBefore = blobFiles(folder).sort();
assert.equal(filesBefore.length, 3);

fill();
// Reads work, and find the right bytes.
const read = async (key: string) => (await bucket.get(key))?.bytes();
assert.ok(sameBytes(await read("small-3"), bytesOf(small, 3)));
assert.ok(sameBytes(await read("large"), bytesOf(large)));
assert.equal((await bucket.list()).objects.length, 22);
assert.equal((await bucket.head("large"))?.size, large);

// A delete works as the first write of all, before any put has failed.
await bucket.delete("small-0");
assert.equal(await bucket.head("small-0"), null);
// What is left is reserved again, so that another program does not take it.
await until("the reserve", () => reserveExists(join(folder, "store/databases")));
fill();

// Puts fail, and say which device is full. The old values stay.
for (const value of [bytesOf(100_000, 9), bytesOf(large, 9)]) {
  for (const key of ["small-1", "new", "large"]) {
    assert.match(await rejection(bucket.put(key, value)), noSpace);
  }
}
assert.match(await rejection(bucket.createMultipartUpload("other")), noSpace);
assert.match(await rejection(upload.uploadPart(2, bytesOf(large))), noSpace);
// The S3-compatible API answers with an error that clients do not repeat, and names the device.
const refused = ({ status, code, text }: Received): void => {
  assert.deepEqual([status, code], [507, "InsufficientStorage"], text);
  assert.match(
    text,
    new RegExp(`<Message>No.* space left on the device that holds ${folder}/store`),
  );
};
const target = `/photos/upload?uploadId=${upload.uploadId}`;
for (const size of [100_000, large]) {
  const body = bytesOf(size, 9);
  for (const key of ["small-1", "new", "large"]) {
    refused(await s3.send({ method: "PUT", target: `/photos/${key}`, body }));
  }
  refused(await s3.send({ method: "PUT", target: `${target}&partNumber=2`, body }));
}
refused(await s3.send({ method: "POST", target: "/photos/other?uploads" }));
// An upload of the explorer's page fails with the same sentence.
const { address, cookie } = await openExplorerLink(explorer.url);
for (const key of ["new", "large"]) {
  const path = `${address}/api/buckets/photos/content?key=${key}`;
  const body = bytesOf(large, 9);
  const response = await fetch(path, { method: "PUT", body, headers: { cookie } });
  const { message } = (await response.json()) as { message: string };
  assert.equal(response.status, 500, message);
  assert.match(message, new RegExp(`No.* space left on the device that holds ${folder}/store`));
}
await explorer.close();
const copy = { "x-amz-copy-source": "/photos/large" };
refused(await s3.send({ method: "PUT", target: "/photos/copy", headers: copy }));
const runFiles = readdirSync(join(folder, "store/runs"));
assert.ok(
  runFiles.every((name) => /^[0-9a-f]+$/.test(name)),
  String(runFiles),
);
const got = await s3.send({ target: "/photos/large" });
assert.ok(got.status === 200 && sameBytes(got.body, bytesOf(large)));
assert.match((await s3.send({ target: "/photos?list-type=2&prefix=large" })).text, /<KeyCount>2</);
assert.equal((await s3.send({ method: "HEAD", target: "/photos/small-1" })).status, 200);
assert.equal((await s3.send({ method: "DELETE", target: "/photos/small-19" })).status, 204);
assert.equal(await bucket.head("small-19"), null);
await until("the reserve", () => reserveExists(join(folder, "store/databases")));
fill();
// A batch of the same turn: the reads and deletes of the batch succeed.
const [put, removed, head] = await Promise.allSettled([
  bucket.put("small-2", bytesOf(50_000)),
  bucket.delete("small-3"),
  bucket.head("small-4"),
]);
assert.equal(put.status, "rejected");
assert.equal(removed.status, "fulfilled");
assert.equal(head.status === "fulfilled" && head.value?.size, small);
assert.ok(sameBytes(await read("small-1"), bytesOf(small, 1)));
assert.ok(sameBytes(await read("large"), bytesOf(large)));
assert.equal(await bucket.head("new"), null);
// Nothing half-written stays.
assert.deepEqual(blobFiles(folder).sort(), filesBefore);

// Deletes and aborts free space: enough for another large value.
await upload.abort();
await bucket.delete(["large-2", "small-4", "small-5"]);
assert.equal(blobFiles(folder).length, 1);
assert.equal((await bucket.list()).objects.length, 22 - 6);

free();
// No restart: the next puts work, and the reserve returns.
await bucket.put("small-1", bytesOf(100_000, 11));
await bucket.put("large", bytesOf(large, 12));
const stored = await s3.send({ method: "PUT", target: "/photos/large-3", body: bytesOf(large) });
assert.equal(stored.status, 200);
assert.deepEqual(reported, []);
await server.close();
await until("the reserve", () => reserveExists(join(folder, "store/databases")));
await store.stop();
checkDatabases(folder);

store = await startStore(folder);
bucket = store.bucket;
assert.equal((await bucket.list()).objects.length, 22 - 6 + 1);
assert.ok(sameBytes(await read("small-1"), bytesOf(100_000, 11)));
assert.ok(sameBytes(await read("large"), bytesOf(large, 12)));
for (let index = 6; index < 19; index++) {
  assert.ok(sameBytes(await read(`small-${index}`), bytesOf(small, index)));
}
assert.equal(blobFiles(folder).length, 2);
await store.stop();
