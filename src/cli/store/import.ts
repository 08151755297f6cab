/** `ledge store import` */
import { resolve } from "node:path";
import type { LeafCommand } from "../command.ts";
import { projectOptions, textOption } from "../options.ts";
import {
  bucketArgument,
  folderArgument,
  readStorageClass,
  storageClassOption,
} from "./parameters.ts";

export const importObjects: LeafCommand = {
  name: "import",
  summary: "Puts the files of a folder into a bucket",
  details:
    "The path of a file becomes its key. A folder that export wrote restores the keys and the\n" +
    "metadata of its objects. Objects that are the same already are skipped, so an import that was\n" +
    "stopped can be run again.",
  arguments: [bucketArgument, folderArgument],
  options: {
    prefix: { summary: "A prefix for every key", value: "PREFIX" },
    "storage-class": {
      ...storageClassOption,
      summary: "The storage class of files that no manifest describes",
    },
    ...projectOptions,
  },
  examples: ["ledge store import photos ./public --prefix static/"],

  async run(invocation) {
    const { checkFolder, countFiles, importFolder, Progress, reportTransfer, withStore } =
      await import("./library.ts");
    const [word, folder] = invocation.arguments as [string, string];
    const root = resolve(folder);
    await checkFolder(root);
    const storageClass = readStorageClass(invocation);
    return withStore(invocation, async (store) => {
      const bucket = store.bucket(word);
      const progress = new Progress("Importing", null);
      // Only the progress bar needs the number of files. The transfer does not wait for it.
      if (process.stderr.isTTY) void countFiles(root).then((total) => (progress.total = total));
      const result = await importFolder(bucket, root, {
        prefix: textOption(invocation, "prefix") ?? "",
        storageClass: storageClass ?? bucket.known.storageClass,
        onFile: (bytes) => progress.add(bytes),
      });
      progress.end();
      return reportTransfer(invocation, "Imported", result);
    });
  },
};
