/** `ledge store get` */
import { resolve } from "node:path";
import { formatBytes } from "../../base/format.ts";
import { UsageError, type LeafCommand } from "../command.ts";
import { projectOptions } from "../options.ts";
import { print } from "../output.ts";
import { objectArgument } from "./parameters.ts";

export const get: LeafCommand = {
  name: "get",
  summary: "Writes an object to a file",
  arguments: [
    objectArgument,
    {
      name: "FILE",
      summary: 'The file; "-" is standard output; by default the last part of the key',
      optional: true,
    },
  ],
  options: projectOptions,
  examples: ["ledge store get photos/cat.png", "ledge store get photos/notes.txt - | wc"],

  async run(invocation) {
    const {
      isPlainPath,
      objectNotFound,
      parseAddress,
      printObject,
      saveObject,
      toObjectJson,
      withStore,
    } = await import("./library.ts");
    const [word, file] = invocation.arguments as [string, string?];
    const address = parseAddress(word);
    const { key } = address;
    const target = file ?? key.slice(key.lastIndexOf("/") + 1);
    if (file === undefined && !isPlainPath(target)) {
      throw new UsageError(`"${key}" does not end in the name of a file: say which FILE to write.`);
    }
    await withStore(invocation, async (store) => {
      const bucket = store.bucket(address.bucket);
      const size = (await bucket.head(key))?.size ?? 0;
      const object = await bucket.get(key, size, async (fetched) => {
        await (target === "-" ? printObject(fetched) : saveObject(resolve(target), fetched));
        return fetched.object;
      });
      if (object === null) throw objectNotFound(address);
      if (target === "-") return;
      print(invocation, toObjectJson(object), `${target}: ${formatBytes(object.size)}`);
    });
  },
};
