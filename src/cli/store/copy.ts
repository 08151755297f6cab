/** `ledge store cp` */
import { formatBytes } from "../../base/format.ts";
import { ByteProgress } from "../../base/progress.ts";
import { copyAcross } from "../../store/node/bucket-objects.ts";
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
    const [fromText, toText] = invocation.arguments as [string, string];
    const source = parseAddress(fromText);
    const target = parseAddress(toText);
    const storageClass = readStorageClass(invocation);
    await withStore(invocation, async (store) => {
      const from = store.bucket(source.bucket);
      const bucket = store.bucket(target.bucket);
      let progress: ByteProgress | undefined;
      const record = await copyAcross({
        from: { bucket: from, key: source.key },
        to: { bucket, key: target.key },
        storageClass,
        onBytes: (count, size) => {
          progress ??= new ByteProgress(target.key, size);
          progress.moveTo(count);
        },
      }).finally(() => progress?.end());
      if (record === null) throw objectNotFound(source);
      print(
        invocation,
        toObjectJson(record),
        `${bucket.name}/${target.key}: ${formatBytes(record.size)}, etag ${record.etag}`,
      );
    });
  },
};
