/**
 * A process that calls a bucket from Node: the bindings of `getPlatformProxy()`. Argument: the folder
 * of the project. It reads calls, a line of JSON each, and prints the result of each.
 */
import { createInterface } from "node:readline";
import { getPlatformProxy, type StoreBucket } from "../../../../dist/index.js";
import type { NodeCall, NodeResult } from "../node-bucket.ts";

const { env, dispose } = await getPlatformProxy<{ BUCKET: StoreBucket }>({
  folder: process.argv[2] as string,
});
const bucket = env.BUCKET;

async function run({ method, key, body, condition }: NodeCall): Promise<Partial<NodeResult>> {
  switch (method) {
    case "get": {
      const object = await bucket.get(key);
      if (object === null) return { etag: null };
      return { etag: object.etag, body: Buffer.from(await object.bytes()).toString("base64") };
    }
    case "put": {
      const onlyIf =
        condition === null ? { etagDoesNotMatch: "*" } : { etagMatches: condition as string };
      const value = Buffer.from(body as string, "base64");
      const options = condition === undefined ? {} : { onlyIf };
      return { etag: (await bucket.put(key, value, options))?.etag ?? null };
    }
    case "delete":
      await bucket.delete(key);
      return { etag: null };
  }
}

const print = (result: NodeResult): void =>
  void process.stdout.write(`${JSON.stringify(result)}\n`);
console.log("url node");
for await (const line of createInterface({ input: process.stdin })) {
  const call = JSON.parse(line) as NodeCall;
  run(call).then(
    (result) => print({ id: call.id, ...result }),
    (error: Error) => print({ id: call.id, error: error.message }),
  );
}
await dispose();
