/**
 * A program that `store-client.test.ts` runs and kills. It stores one object and prints a line, and
 * then writes content that never ends.
 */
import { bytesOf } from "../../support/bytes.ts";
import { chunksOf, description, openStoreClient } from "./store-client.ts";

const client = openStoreClient(process.argv[2] as string);
const bucket = await client.find("photos");
if (bucket === null) throw new Error("The bucket does not exist");
const content = await bucket.write(chunksOf(bytesOf(200_000)));
await bucket.call({ method: "put", key: "kept", ...description, content });
console.log("kept");

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) {
    yield bytesOf(65_536);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
await bucket.write(endless());
