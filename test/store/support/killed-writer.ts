/**
 * A program that `crash.test.ts` runs and kills. It stores one object, prints a line, and then streams
 * another object that never ends, to a store on the folder of its argument.
 */
import { Miniflare } from "miniflare";
import type { StoreBucket } from "../../../src/types/store.ts";
import { bytesOf } from "../../support/bytes.ts";
import { worker } from "../../support/worker.ts";

const miniflare = new Miniflare({
  resourcePersistencePath: process.argv[2],
  workers: [worker("export default {};")],
});
const { BUCKET } = await miniflare.getBindings<{ BUCKET: StoreBucket }>();
await BUCKET.put("kept", bytesOf(200_000));
console.log("kept");
const endless = new ReadableStream({
  async pull(controller) {
    controller.enqueue(bytesOf(65_536));
    await new Promise((resolve) => setTimeout(resolve, 1));
  },
});
await BUCKET.put("lost", endless);
