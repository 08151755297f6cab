/** The built companion worker in workerd, on a free loopback port. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

const workerPath = fileURLToPath(new URL("../../../dist/workerd/dns-worker.js", import.meta.url));

export interface ServerOptions {
  /** The `[dns]` table. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** A folder given here is kept after `stop`. */
  readonly folder?: string;
  /** Host and port of the listeners, and the shared secret. */
  readonly listeners?: { readonly address: string; readonly secret: string };
  readonly workers?: readonly Readonly<Record<string, unknown>>[];
}

export interface Server {
  /** Of the API, with /client/v4. */
  readonly url: string;
  readonly origin: string;
  readonly miniflare: Miniflare;
  stop(): Promise<void>;
}

export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), "ledge-dns-")));
  const dns = {
    name: "dns",
    modules: true,
    scriptPath: workerPath,
    compatibilityDate: "2026-08-01",
    durableObjects: {
      ZONES: { className: "ZoneObject", useSQLite: true },
      ZONE_INDEX: { className: "IndexObject", useSQLite: true },
    },
    // A direct socket: Miniflare's entry worker costs more time than the API.
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
    bindings: {
      ...(options.config !== undefined && { DNS_CONFIG: JSON.stringify(options.config) }),
      ...(options.listeners !== undefined && { LISTENERS_SECRET: options.listeners.secret }),
    },
    ...(options.listeners !== undefined && {
      serviceBindings: {
        LISTENERS: { external: { address: options.listeners.address, http: {} } },
      },
    }),
  };
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port: 0,
      resourcePersistencePath: folder,
      workers: [...(options.workers ?? []), dns],
    } as unknown as Parameters<typeof convertV4MiniflareOptions>[0]),
  );
  await miniflare.ready;
  const { origin } = await miniflare.unsafeGetDirectURL("dns");
  return {
    url: `${origin}/client/v4`,
    origin,
    miniflare,
    async stop() {
      await miniflare.dispose();
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}
