import { resolve } from "node:path";
import type { Invocation } from "../../command.ts";
import { exportFolder } from "../export-folder.ts";
import { Progress } from "../../../base/progress.ts";
import { textOption, withStore } from "../with-store.ts";
import { reportTransfer } from "./import.ts";

export function exportObjects(invocation: Invocation): Promise<number> {
  const [word, folder] = invocation.arguments as [string, string];
  const prefix = textOption(invocation, "prefix") ?? "";
  return withStore(invocation, async (store) => {
    const bucket = store.bucket(word);
    const { objects } = await bucket.call({ method: "stats" });
    // How many of them begin so, only the listing knows.
    const progress = new Progress("Exporting", prefix === "" ? objects : null);
    const result = await exportFolder(bucket, resolve(folder), {
      prefix,
      onFile: (bytes) => progress.add(bytes),
    });
    progress.end();
    return reportTransfer(invocation, "Exported", result);
  });
}
