/** The companion worker (`worker/`) in a Miniflare of its own. */
import { join } from "node:path";
import type { Miniflare } from "miniflare";
import { keepRuntimeFilesPrivate, makePrivateFolder } from "../../base/private-files.ts";
import { loadMiniflare, ownCompatibilityDate, workerdModule } from "../../base/runtime.ts";
import type { DnsVariables } from "../../config/dns-config.ts";

export interface CompanionOptions {
  readonly host: string;
  readonly port: number;
  /** Where the zones are. */
  readonly folder: string;
  /** Whether the device of the folder is full. */
  readonly isFull: boolean;
  /** Where the worker publishes each change of a zone; `null` without listeners. */
  readonly listeners: { readonly address: string; readonly secret: string } | null;
}

/** The address of a companion worker, and the credentials of its API. */
export interface RemoteOptions {
  readonly address: string;
  readonly email: string;
  readonly key: string;
}

/** The worker's Durable Object classes, by binding. wrangler.toml declares the same. */
export const companionClasses = { ZONES: "ZoneObject", ZONE_INDEX: "IndexObject" };

/** Miniflare would make these folders for other users too. */
const miniflareFolders = ["cache", "do"];
const workerName = "dns";
const durableObject = "durable-object";
const text = (value: string) => ({ type: "text" as const, value });

export function startCompanion(
  variables: DnsVariables,
  { host, port, folder, isFull, listeners }: CompanionOptions,
): Miniflare {
  const { Miniflare: Runtime } = loadMiniflare();
  keepRuntimeFilesPrivate();
  for (const name of miniflareFolders) makePrivateFolder(join(folder, name));
  const classes = Object.entries(companionClasses);
  return new Runtime({
    host,
    port: 0,
    resourcePersistencePath: folder,
    workers: [
      {
        config: {
          type: "worker",
          name: workerName,
          compatibilityDate: ownCompatibilityDate,
          manifest: {
            mainModule: "dns-worker.js",
            modules: { "dns-worker.js": { type: "esm", contents: workerdModule("dns-worker") } },
          },
          exports: Object.fromEntries(
            classes.map(([, name]) => [name, { type: durableObject, storage: "sqlite" }]),
          ),
          env: {
            ...Object.fromEntries(
              classes.map(([name, exportName]) => [
                name,
                { type: durableObject, workerName, exportName },
              ]),
            ),
            ...(listeners !== null && {
              LISTENERS: { type: "external" as const, address: listeners.address },
              LISTENERS_SECRET: text(listeners.secret),
            }),
            ZONES_DISK: { type: "disk" as const, path: folder, writable: true },
            ZONES_PLACE: text(JSON.stringify({ folder, databases: `do/${workerName}-`, isFull })),
            ...Object.fromEntries(
              Object.entries(variables).map(([name, value]) => [name, text(value as string)]),
            ),
          },
        },
        // The port leads directly to the worker: Miniflare's entry worker takes longer than the API.
        dev: { unsafeDirectSockets: [{ host, port }] },
      },
    ],
  });
}
