/**
 * Keys of S3 services on their way to the plugin.
 *
 * The options of a binding can stand in a file, which wrangler reads. So the options have a reference in
 * the place of keys, and the keys stay in the memory of this process. Other keys have another reference:
 * a runtime with changed options starts again.
 *
 * The commands and the plugin can be loaded from different files, so the map is a property of the global
 * object.
 */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { RemoteCredentials } from "../store/remote/remote-options.ts";

const mapKey = Symbol.for("ledge:remote-credentials");

function kept(): Map<string, RemoteCredentials> {
  const global = globalThis as { [mapKey]?: Map<string, RemoteCredentials> };
  return (global[mapKey] ??= new Map());
}

/** Returns the reference of these keys in this process. */
export function keepCredentials(credentials: RemoteCredentials): string {
  for (const [reference, known] of kept()) {
    if (isDeepStrictEqual(known, credentials)) return reference;
  }
  const reference = randomUUID();
  kept().set(reference, credentials);
  return reference;
}

export function keptCredentials(reference: string): RemoteCredentials | undefined {
  return kept().get(reference);
}
