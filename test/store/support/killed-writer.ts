/**
 * A program that `crash.test.ts` runs and kills. It writes to a store on the folder of its first
 * argument, and prints a line for each write whose promise has resolved.
 */
import { Miniflare } from "miniflare";
import type { StoreBucket } from "../../../src/types/store.ts";
import { bytesOf } from "../../support/bytes.ts";
import { worker } from "../../support/worker.ts";

const [folder, scenario] = process.argv.slice(2) as [string, string];
const miniflare = new Miniflare({
  resourcePersistencePath: folder,
  workers: [worker("export default {};")],
});
const { BUCKET } = await miniflare.getBindings<{ BUCKET: StoreBucket }>();

const scenarios: Record<string, () => Promise<void>> = {
  /** Stores one object, and then streams another that never ends. */
  async stream() {
    await BUCKET.put("kept", bytesOf(200_000));
    console.log("kept");
    const endless = new ReadableStream({
      async pull(controller) {
        controller.enqueue(bytesOf(65_536));
        await new Promise((resolve) => setTimeout(resolve, 1));
      },
    });
    await BUCKET.put("lost", endless);
  },
  /** Replaces ten objects by values of different sizes, and prints each write. */
  async churn() {
    for (let n = 0; ; n++) {
      const size = [10, 140_000, 40, 300_000][n % 4] as number;
      const key = `object-${n % 10}`;
      const { version } = await BUCKET.put(key, bytesOf(size, n), {
        customMetadata: { seed: String(n) },
      });
      console.log(`${n} ${key} ${version}`);
    }
  },
};
await scenarios[scenario]?.();
