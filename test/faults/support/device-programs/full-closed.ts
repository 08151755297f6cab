/** A bucket whose database is not open when the device becomes full: to open it takes space. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { worker, bucketEntry } from "../../../support/worker.ts";
import { Miniflare } from "miniflare";
import type { StoreBucket } from "../../../../src/types/store.ts";
import { startS3 } from "../../../../dist/index.js";
import { S3TestClient } from "../../../s3/support/s3-client.ts";
import { bytesOf } from "../../../support/bytes.ts";
import {
  checkDatabases,
  device,
  fill,
  free,
  rejection,
  removeReserve,
  reserveExists,
  until,
} from "./device.ts";

const folder = join(device, "v3");
const databases = join(folder, "store/databases");
type Buckets = Record<"BUCKET" | "OTHER" | "NEW" | "NEWER", StoreBucket>;
const noSpace = /No space left on the device that holds/;
const start = async () => {
  const miniflare = new Miniflare({
    resourcePersistencePath: folder,
    workers: [
      worker("export default {};", {
        env: {
          OTHER: bucketEntry({ bucket_name: "other" }),
          NEW: bucketEntry({ bucket_name: "new" }),
          NEWER: bucketEntry({ bucket_name: "newer" }),
        },
      }),
    ],
  });
  const buckets = await miniflare.getBindings<Buckets>();
  return { miniflare, ...buckets };
};

let { miniflare, BUCKET, OTHER, NEW, NEWER } = await start();
await BUCKET.put("key", "value");
await OTHER.put("key", "value");
await until("the reserve", () => reserveExists(databases));
await miniflare.dispose();
// SQLite removes the logs and their indexes: the next runtime has to create them.
checkDatabases(folder);

// The next runtime writes the reserve once by itself, a second after its first call. This must have happened.
removeReserve(databases);
({ miniflare, BUCKET, OTHER, NEW, NEWER } = await start());
assert.ok(await BUCKET.head("key"));
await until("the reserve", () => reserveExists(databases));
const server = await startS3({
  stateFolder: device,
  buckets: [{ name: "newest" }],
  port: 0,
});
const s3 = new S3TestClient(server);
fill();
// No write has failed yet, so the store does not know that the device is full.
const stored = await s3.send({ method: "PUT", target: "/newest/key", body: bytesOf(1000) });
assert.deepEqual([stored.status, stored.code], [507, "InsufficientStorage"], stored.text);
await server.close();
assert.match(await rejection(NEW.put("key", "value")), noSpace);
assert.equal(await (await OTHER.get("key"))?.text(), "value");
await until("the reserve", () => reserveExists(databases));
fill();
await OTHER.delete("key");
assert.equal(await OTHER.head("key"), null);
await until("the reserve", () => reserveExists(databases));
fill();
// A bucket that was never used has no database, and nothing to read or to delete.
assert.match(await rejection(NEWER.put("key", "value")), noSpace);
await until("the reserve", () => reserveExists(databases));
free();
await NEWER.put("key", "value");
await miniflare.dispose();
