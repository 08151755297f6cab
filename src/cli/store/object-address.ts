/** `BUCKET/KEY`, the name of an object on the command line. Only the key may hold slashes. */
import { NotFoundError } from "../../base/user-error.ts";
import { validateKey } from "../../store/core/key.ts";
import { UsageError } from "../command.ts";

export interface ObjectAddress {
  /** The name of a bucket or of its binding. */
  readonly bucket: string;
  readonly key: string;
}

export function parseAddress(text: string): ObjectAddress {
  const slash = text.indexOf("/");
  const [bucket, key] = slash === -1 ? [text, ""] : [text.slice(0, slash), text.slice(slash + 1)];
  if (bucket === "" || key === "") {
    throw new UsageError(`"${text}" does not name an object: write BUCKET/KEY.`);
  }
  try {
    validateKey(key);
  } catch {
    throw new UsageError("The key is longer than 1024 bytes: shorten it.");
  }
  return { bucket, key };
}

export function objectNotFound({ bucket, key }: ObjectAddress): NotFoundError {
  return new NotFoundError(`There is no object "${key}" in "${bucket}".`);
}
