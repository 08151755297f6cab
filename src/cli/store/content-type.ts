/** What a file's name says of its content. */
import { lookup } from "mrmime";
import type { HttpMetadata } from "../../store/core/http-metadata.ts";

/** Text is taken to be UTF-8, which is what files are these days. */
export function guessedMetadata(name: string): HttpMetadata {
  const type = lookup(name);
  if (type === undefined) return {};
  return { contentType: type.startsWith("text/") ? `${type}; charset=utf-8` : type };
}
