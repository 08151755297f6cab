/** `ledge store export` */
import { resolve } from "node:path";
import type { LeafCommand } from "../command.ts";
import { projectOptions, textOption } from "../options.ts";
import { bucketArgument, folderArgument } from "./parameters.ts";

export const exportObjects: LeafCommand = {
  name: "export",
  summary: "Writes the objects of a bucket to a folder",
  details:
    "A key becomes the path of a file where that is possible. .ledge-metadata.jsonl holds the\n" +
    "metadata, and the keys of all other files. Files that are the same already are skipped.",
  arguments: [bucketArgument, folderArgument],
  options: {
    prefix: { summary: "Exports only keys with this prefix", value: "PREFIX" },
    ...projectOptions,
  },
  examples: ["ledge store export photos ./backup"],

  async run(invocation) {
    const [word, folder] = invocation.arguments as [string, string];
    const prefix = textOption(invocation, "prefix") ?? "";
    const { exportFolder, Progress, reportTransfer, withStore } = await import("./library.ts");
    return withStore(invocation, async (store) => {
      const bucket = store.bucket(word);
      const { objects } = await bucket.call({ method: "stats" });
      // The number of objects with a prefix is not known before the listing ends.
      const progress = new Progress("Exporting", prefix === "" ? objects : null);
      const result = await exportFolder(bucket, resolve(folder), {
        prefix,
        onFile: (bytes) => progress.add(bytes),
      });
      progress.end();
      return reportTransfer(invocation, "Exported", result);
    });
  },
};
