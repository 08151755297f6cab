import { rename, rm } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";
import { UserError } from "../../../base/user-error.ts";
import { UsageError, type Invocation } from "../../command.ts";
import { parseAddress } from "../object-address.ts";
import type { FetchedObject } from "../../../store/node/endpoint-bucket.ts";
import { writeContent } from "../folder.ts";
import { isPlainPath } from "../file-path.ts";
import { formatBytes } from "../../../base/format.ts";
import { toObjectJson } from "../object-json.ts";
import { print, withStore } from "../with-store.ts";
import { noObject } from "./head.ts";

export function getObject(invocation: Invocation): Promise<void> {
  const [address, given] = invocation.arguments as [string, string?];
  const { bucket, key } = parseAddress(address);
  const target = given ?? nameOf(key);
  return withStore(invocation, async (store) => {
    const remote = store.bucket(bucket);
    const size = (await remote.head(key))?.size ?? 0;
    const object = await remote.get(key, size, async (fetched) => {
      await (target === "-" ? toStandardOutput(fetched) : toFile(fetched, resolve(target)));
      return fetched.object;
    });
    if (object === null) throw noObject(bucket, key);
    if (target === "-") return;
    print(invocation, toObjectJson(object), `${target}: ${formatBytes(object.size)}`);
  });
}

/** The last part of the key, in the working folder. */
function nameOf(key: string): string {
  const name = key.slice(key.lastIndexOf("/") + 1);
  if (isPlainPath(name)) return name;
  throw new UsageError(`"${key}" does not end in a file's name: say which FILE to write.`);
}

/** The file appears when it is whole. */
async function toFile(fetched: FetchedObject, path: string): Promise<void> {
  const partial = join(dirname(path), `.ledge-partial-${randomBytes(8).toString("hex")}`);
  try {
    await writeContent(partial, fetched);
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw new UserError(`Cannot write ${path}: ${(error as Error).message}`);
  }
}

/** What has been written there cannot be taken back, so it is tried once. */
async function toStandardOutput({ content }: FetchedObject): Promise<void> {
  const source = content instanceof Uint8Array ? Readable.from([content]) : content;
  try {
    await pipeline(source, process.stdout, { end: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EPIPE") return;
    throw new UserError(`The object broke off: ${(error as Error).message}`);
  }
}
