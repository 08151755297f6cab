/** `ledge store cp` */
import { Progress } from "../../base/progress.ts";
import type { StorageClass } from "../../store/core/operations.ts";
import { copyAcross } from "../../store/node/bucket-objects.ts";
import { printWritten } from "./objects.ts";
import {
  objectNotFound,
  parseAddress,
  storageClassChoices,
  storageClassOption,
  storeCommand,
  type ObjectAddress,
} from "./open-store.ts";

export const copy = storeCommand({
  name: "cp",
  summary: "Copies an object with its metadata",
  arguments: [
    ["BUCKET/KEY", "The object to copy"],
    ["BUCKET/KEY", "The copy"],
  ],
  options: { [storageClassOption]: "Standard or InfrequentAccess (default: the object's)" },
  choices: storageClassChoices,
  examples: ["ledge store cp photos/cat.png archive/2026/cat.png"],

  async run(invocation, store, ...words) {
    const [source, target] = words.map(parseAddress) as [ObjectAddress, ObjectAddress];
    const from = store.bucket(source.bucket);
    const bucket = store.bucket(target.bucket);
    let progress: Progress | undefined;
    const record = await copyAcross({
      from: { bucket: from, key: source.key },
      to: { bucket, key: target.key },
      storageClass: invocation.text<StorageClass>("storage-class"),
      onBytes: (count, size) => {
        progress ??= new Progress(target.key, size);
        progress.moveTo(count);
      },
    }).finally(() => progress?.end());
    if (record === null) throw objectNotFound(source);
    printWritten(invocation, bucket, record);
  },
});
