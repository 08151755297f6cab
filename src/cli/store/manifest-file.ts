/** The manifest of a folder, on disk. */
import { createReadStream, existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { manifestName } from "./file-path.ts";
import { checkHead, decodeEntry, type ManifestEntry } from "./manifest.ts";

/** The entries of a folder's manifest; none when there is no manifest. */
export async function* readManifest(folder: string): AsyncGenerator<ManifestEntry> {
  const path = join(folder, manifestName);
  if (!existsSync(path)) return;
  let number = 0;
  for await (const line of createInterface({
    input: createReadStream(path),
    crlfDelay: Infinity,
  })) {
    number++;
    if (number === 1) checkHead(line);
    else if (line !== "") yield decodeEntry(line, number);
  }
}
