/**
 * The companion worker (`worker/`) in a Miniflare of its own: the service of the process that owns
 * the zones. It answers at the folder's socket, and at a port where the owner wants one.
 */
import { join } from "node:path";
import type { Miniflare } from "miniflare";
import { observeRuntimesOf } from "../../base/child-processes.ts";
import { publishSocket, socketPath } from "../../base/folder-sockets.ts";
import { newRunId } from "../../base/run-records.ts";
import { keepRuntimeFilesPrivate, makePrivateFolder } from "../../base/private-files.ts";
import { acceptedConfig, loadMiniflare } from "../../base/miniflare.ts";
import { ownCompatibilityDate, workerdModule } from "../../base/runtime.ts";
import { requireUsableFolder } from "../../base/usable-folder.ts";
import type { DnsVariables } from "../../config/dns-config.ts";
import { apiSocketPath, zonesNeeds, type ZonesOwner } from "./zones-owner.ts";

export interface CompanionOptions {
  /** `null`: only the socket. */
  readonly port: { readonly host: string; readonly port: number } | null;
  /** Where the worker publishes each change of a zone; `null` without listeners. */
  readonly listeners: { readonly address: string; readonly secret: string } | null;
  /** Called when the process of the worker exists. */
  readonly onLaunch?: (() => void) | undefined;
}

/** The worker's Durable Object classes, by binding. wrangler.toml declares the same. */
export const companionClasses = { ZONES: "ZoneObject", ZONE_INDEX: "IndexObject" };

const endpoint = "LedgeDnsEndpoint";
/** Miniflare would make these folders for other users too. */
const miniflareFolders = ["cache", "do"];
const workerName = "dns";
const durableObject = "durable-object";
const text = (value: string) => ({ type: "text" as const, value });

export class Companion {
  readonly #miniflare: Miniflare;

  private constructor(miniflare: Miniflare) {
    this.#miniflare = miniflare;
  }

  /** Starts the worker, and returns when it answers. */
  static async start(
    owner: ZonesOwner,
    variables: DnsVariables,
    options: CompanionOptions,
  ): Promise<Companion> {
    const { folder } = owner;
    const runId = newRunId();
    const socket = socketPath(folder, runId);
    const miniflare = observeRuntimesOf(
      {
        onStart(runtime) {
          owner.recordRuntime(runtime);
          options.onLaunch?.();
        },
        onListen: (name) => {
          // Miniflare appends the port to every host. Here the port is a part of the socket's name.
          if (name.endsWith(endpoint)) publishSocket(`${socket}:0`, apiSocketPath(folder));
        },
      },
      () => startMiniflare(folder, socket, variables, options),
    );
    const companion = new Companion(miniflare);
    try {
      await miniflare.ready;
      return companion;
    } catch (error) {
      await companion.stop().catch(() => {});
      throw error;
    }
  }

  /** Of the port. */
  async origin(): Promise<string> {
    return (await this.#miniflare.unsafeGetDirectURL(workerName)).origin;
  }

  async stop(): Promise<void> {
    await this.#miniflare.dispose();
  }
}

function startMiniflare(
  folder: string,
  socket: string,
  variables: DnsVariables,
  { port, listeners }: CompanionOptions,
): Miniflare {
  const module = loadMiniflare();
  keepRuntimeFilesPrivate();
  for (const name of miniflareFolders) makePrivateFolder(join(folder, name));
  const { isFull } = requireUsableFolder(folder, zonesNeeds);
  const classes = Object.entries(companionClasses);
  return new module.Miniflare({
    host: "127.0.0.1",
    port: 0,
    resourcePersistencePath: folder,
    workers: [
      {
        config: acceptedConfig(module, {
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
        }),
        dev: {
          // These lead directly to the worker: Miniflare's entry worker takes longer than the API.
          unsafeDirectSockets: [
            ...(port === null ? [] : [port]),
            { host: `unix:${socket}`, port: 0, entrypoint: endpoint },
          ],
        },
      },
    ],
  });
}
