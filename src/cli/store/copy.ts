/** `ledge store cp` */
import { formatBytes } from "../../base/format.ts";
import type { LeafCommand } from "../command.ts";
import { projectOptions } from "../options.ts";
import { print } from "../output.ts";
import { objectNotFound, parseAddress } from "./object-address.ts";
import { toObjectJson } from "./object-json.ts";
import { withStore } from "./open-store.ts";
import { readStorageClass, storageClassOption } from "./parameters.ts";

export const copy: LeafCommand = {
  name: "cp",
  summary: "Copies an object with its metadata",
  arguments: [
    { name: "BUCKET/KEY", summary: "The object to copy" },
    { name: "BUCKET/KEY", summary: "The copy" },
  ],
  options: {
    "storage-class": { ...storageClassOption, default: "the object's" },
    ...projectOptions,
  },
  examples: ["ledge store cp photos/cat.png archive/2026/cat.png"],

  async run(invocation) {
    const [from, to] = invocation.arguments as [string, string];
    const source = parseAddress(from);
    const target = parseAddress(to);
    const storageClass = readStorageClass(invocation);
    await withStore(invocation, async (store) => {
      const { name: bucketName } = store.bucket(source.bucket);
      const bucket = store.bucket(target.bucket);
      const record = await bucket.copy({
        key: target.key,
        from: { bucketName, key: source.key },
        ...(storageClass !== undefined && { storageClass }),
      });
      if (record === null) throw objectNotFound(source);
      print(
        invocation,
        toObjectJson(record),
        `${bucket.name}/${target.key}: ${formatBytes(record.size)}, etag ${record.etag}`,
      );
    });
  },
};
