import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { NotFoundError, exitCode, type Invocation } from "../../command.ts";
import { counted, formatBytes } from "../../../base/format.ts";
import { filesBelow } from "../folder.ts";
import { importFolder, type Transferred } from "../import-folder.ts";
import { Progress } from "../../../base/progress.ts";
import { print, textOption, withStore } from "../with-store.ts";
import { storageClassOption } from "./put.ts";

export async function importObjects(invocation: Invocation): Promise<number> {
  const [word, folder] = invocation.arguments as [string, string];
  const root = resolve(folder);
  const found = await stat(root).catch(() => null);
  if (found?.isDirectory() !== true) throw new NotFoundError(`There is no folder ${root}.`);
  const given = storageClassOption(invocation);
  return withStore(invocation, async (store) => {
    const bucket = store.bucket(word);
    const progress = new Progress("Importing", null);
    // Counting is quick beside the transfer, and only a bar wants to know.
    if (process.stderr.isTTY) void countFiles(root).then((total) => (progress.total = total));
    const result = await importFolder(bucket, root, {
      prefix: textOption(invocation, "prefix") ?? "",
      storageClass: given ?? bucket.known.storageClass,
      onFile: (bytes) => progress.add(bytes),
    });
    progress.end();
    return reportTransfer(invocation, "Imported", result);
  });
}

/** Says what was done, and what could not be. Returns the exit code. */
export function reportTransfer(
  invocation: Invocation,
  verb: string,
  { transferred, unchanged, bytes, failures }: Transferred,
): number {
  for (const { name, message } of failures) process.stderr.write(`${name}: ${message}\n`);
  print(
    invocation,
    { transferred, unchanged, bytes, failures },
    `${verb} ${counted(transferred, "object")}, ${formatBytes(bytes)}.` +
      (unchanged === 0 ? "" : ` ${unchanged} were there already.`) +
      (failures.length === 0 ? "" : ` ${failures.length} failed.`),
  );
  return failures.length === 0 ? exitCode.done : exitCode.failed;
}

async function countFiles(root: string): Promise<number> {
  let count = 0;
  for await (const _ of filesBelow(root)) count++;
  return count;
}
