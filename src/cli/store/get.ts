/** `ledge store get` */
import { randomBytes } from "node:crypto";
import { rename } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { formatBytes } from "../../base/format.ts";
import { ByteProgress } from "../../base/progress.ts";
import { UserError } from "../../base/user-error.ts";
import { fetchObject, type FetchedObject } from "../../store/node/bucket-objects.ts";
import { withTemporaryPath } from "../cleanup.ts";
import { UsageError, type LeafCommand } from "../command.ts";
import { projectOptions } from "../options.ts";
import { OutputClosedError, print, writeOutput } from "../output.ts";
import { isPlainPath } from "../../store/node/file-path.ts";
import { objectNotFound, parseAddress } from "./object-address.ts";
import { writeContent } from "./object-file.ts";
import { toObjectJson } from "./object-json.ts";
import { withStore } from "./open-store.ts";
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
    const [word, file] = invocation.arguments as [string, string?];
    const address = parseAddress(word);
    const { key } = address;
    const target = file ?? key.slice(key.lastIndexOf("/") + 1);
    if (file === undefined && !isPlainPath(target)) {
      throw new UsageError(`"${key}" does not end in the name of a file: say which FILE to write.`);
    }
    await withStore(invocation, async (store) => {
      const bucket = store.bucket(address.bucket);
      const object = await fetchObject(bucket, key, async (fetched) => {
        await (target === "-" ? printObject(fetched) : saveObject(resolve(target), fetched));
        return fetched.object;
      });
      if (object === null) throw objectNotFound(address);
      if (target === "-") return;
      print(invocation, toObjectJson(object), `${target}: ${formatBytes(object.size)}`);
    });
  },
};

/** Writes an object to a file, which appears under its name when it is complete. */
async function saveObject(path: string, fetched: FetchedObject): Promise<void> {
  const partial = join(dirname(path), `.ledge-partial-${randomBytes(8).toString("hex")}`);
  const progress = new ByteProgress(basename(path), fetched.object.size);
  try {
    await withTemporaryPath(partial, async () => {
      await writeContent(partial, fetched, (count) => progress.moveTo(count));
      await rename(partial, path);
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw new UserError(`Cannot write ${path}: ${(error as Error).message}`);
  } finally {
    progress.end();
  }
}

/**
 * Writes an object to standard output. Output cannot be taken back, so a transfer that breaks off is
 * not tried a second time.
 */
async function printObject({ content }: FetchedObject): Promise<void> {
  try {
    if (content instanceof Uint8Array) return await writeOutput(content);
    for await (const chunk of content) await writeOutput(chunk);
  } catch (error) {
    if (error instanceof OutputClosedError) throw error;
    throw new UserError(
      `The transfer of the object broke off: ${(error as Error).message}. Run the command again.`,
    );
  }
}
