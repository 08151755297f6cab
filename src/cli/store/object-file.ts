/** Files of objects: their content type, and the check of what is written to them. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { lookup } from "mrmime";
import { UserError } from "../../base/user-error.ts";
import type { HttpMetadata } from "../../store/core/http-metadata.ts";
import type { FetchedObject } from "../../store/node/bucket-objects.ts";

/** The metadata of a file with this name. Text files count as UTF-8. */
export function guessMetadata(name: string): HttpMetadata {
  const type = lookup(name);
  if (type === undefined) return {};
  return { contentType: type.startsWith("text/") ? `${type}; charset=utf-8` : type };
}

/**
 * @param onBytes is called with the number of bytes that have been written so far
 * @throws UserError when the content does not match the object's md5
 */
export async function writeContent(
  path: string,
  { object, content }: FetchedObject,
  onBytes: (count: number) => void = () => {},
): Promise<void> {
  const { md5 } = object.checksums;
  // An object that was uploaded in parts has no md5.
  const hash = md5 === undefined ? null : createHash("md5");
  if (content instanceof Uint8Array) {
    hash?.update(content);
    writeFileSync(path, content);
  } else {
    const file = await open(path, "w");
    let count = 0;
    try {
      for await (const chunk of content) {
        const writing = file.writeFile(chunk);
        // The chunk is hashed while it is written.
        hash?.update(chunk);
        await writing;
        onBytes((count += chunk.length));
      }
    } finally {
      await file.close();
    }
  }
  if (hash !== null && hash.digest("hex") !== md5) {
    throw new UserError(
      `"${object.key}" is damaged: its content does not match its md5. Put or delete the object.`,
    );
  }
}
