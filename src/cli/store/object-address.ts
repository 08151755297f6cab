/** `BUCKET/KEY`, as the command line writes an object: a key may hold slashes, a bucket may not. */
import { validateKey } from "../../store/core/key.ts";
import { UsageError } from "../command.ts";

export interface Address {
  /** A bucket's name, or a binding's. */
  readonly bucket: string;
  readonly key: string;
}

export function parseAddress(text: string): Address {
  const slash = text.indexOf("/");
  const [bucket, key] = slash === -1 ? [text, ""] : [text.slice(0, slash), text.slice(slash + 1)];
  if (bucket === "" || key === "") {
    throw new UsageError(`"${text}" does not name an object: write BUCKET/KEY.`);
  }
  try {
    validateKey(key);
  } catch {
    throw new UsageError("The key is not valid: it may have 1024 bytes.");
  }
  return { bucket, key };
}
