/** Files of objects: their content type, and the check of what is written to them. */
import { createHash } from "node:crypto";
import { createWriteStream, writeFileSync } from "node:fs";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { lookup } from "mrmime";
import { UserError } from "../../base/user-error.ts";
import type { HttpMetadata } from "../../store/core/http-metadata.ts";
import type { FetchedObject } from "../../store/node/endpoint-bucket.ts";

/** The metadata of a file with this name. Text files count as UTF-8. */
export function guessMetadata(name: string): HttpMetadata {
  const type = lookup(name);
  if (type === undefined) return {};
  return { contentType: type.startsWith("text/") ? `${type}; charset=utf-8` : type };
}

/** @throws UserError when the content does not match the object's md5 */
export async function writeContent(
  path: string,
  { object, content }: FetchedObject,
): Promise<void> {
  const hash = createHash("md5");
  if (content instanceof Uint8Array) {
    hash.update(content);
    writeFileSync(path, content);
  } else {
    const hashing = new Transform({
      transform(chunk: Buffer, _, done) {
        hash.update(chunk);
        done(null, chunk);
      },
    });
    await pipeline(content, hashing, createWriteStream(path));
  }
  const { md5 } = object.checksums;
  if (md5 !== undefined && md5 !== hash.digest("hex")) {
    throw new UserError(
      `"${object.key}" is damaged: its content does not match its md5. Put or delete the object.`,
    );
  }
}
