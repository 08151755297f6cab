/** The kinds of state that tests can isolate beside buckets and DNS. */
import type { StateFolder } from "./state-files.ts";

/**
 * By the names of the option `isolate`: where Miniflare keeps each kind. Not workflows: the runtime does not
 * abort their objects, and files of an object that is alive cannot be restored.
 */
export const stateFolders = {
  kv: { name: "kv", hasObjects: false },
  d1: { name: "d1", hasObjects: false },
  r2: { name: "r2", hasObjects: false },
  cache: { name: "cache", hasObjects: false },
  durable_objects: { name: "do", hasObjects: true },
  secrets_store: { name: "secrets-store", hasObjects: false },
  ratelimits: { name: "ratelimit", hasObjects: false },
  images: { name: "images", hasObjects: false },
  stream: { name: "stream", hasObjects: false },
} satisfies Record<string, StateFolder>;

export type StateKind = keyof typeof stateFolders;

export const stateKinds = Object.keys(stateFolders) as StateKind[];
