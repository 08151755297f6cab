/** A bucket whose database is not open when the device becomes full: to open it takes space. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { worker, bucketEntry } from "../../../support/worker.ts";
import { Miniflare } from "miniflare";
import type { StoreBucket } from "../../../../src/types/store.ts";
import { checkDatabases, device, fill, rejection, reserveExists, until } from "./device.ts";

const folder = join(device, "v3");
const start = async () => {
  const miniflare = new Miniflare({
    resourcePersistencePath: folder,
    workers: [
      worker("export default {};", {
        env: {
          OTHER: bucketEntry({ bucket_name: "other" }),
          NEW: bucketEntry({ bucket_name: "new" }),
        },
      }),
    ],
  });
  const buckets = await miniflare.getBindings<Record<"BUCKET" | "OTHER" | "NEW", StoreBucket>>();
  return { miniflare, ...buckets };
};

let { miniflare, BUCKET, OTHER, NEW } = await start();
await BUCKET.put("key", "value");
await OTHER.put("key", "value");
await until("the reserve", () => reserveExists(join(folder, "store/databases")));
await miniflare.dispose();
// SQLite removes the logs and their indexes: the next runtime has to create them.
checkDatabases(folder);

({ miniflare, BUCKET, OTHER, NEW } = await start());
assert.ok(await BUCKET.head("key"));
fill();
assert.equal(await (await OTHER.get("key"))?.text(), "value");
await until("the reserve", () => reserveExists(join(folder, "store/databases")));
fill();
await OTHER.delete("key");
assert.equal(await OTHER.head("key"), null);
fill();
// A bucket that was never used has no database, and nothing to read or to delete.
assert.match(await rejection(NEW.put("key", "value")), /No space left on the device that holds/);
await miniflare.dispose();
