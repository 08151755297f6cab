/** The companion worker (`worker/`) in a runtime of its own. */
import type { Miniflare } from "miniflare";
import { loadMiniflare } from "../../base/packages.ts";
import { workerdModule } from "../../base/workerd-module.ts";
import type { DnsVariables } from "../../config/dns-config.ts";

export interface CompanionOptions {
  readonly host: string;
  readonly port: number;
  /** Where zones are kept. */
  readonly folder: string;
  /** Who is told of every change; nobody without it. */
  readonly listeners: { readonly address: string; readonly secret: string } | null;
}

export function startCompanion(
  variables: DnsVariables,
  { host, port, folder, listeners }: CompanionOptions,
): Miniflare {
  const { Miniflare: Runtime } = loadMiniflare();
  return new Runtime({
    host,
    port: 0,
    resourcePersistencePath: folder,
    workers: [
      {
        config: {
          type: "worker",
          name: "dns",
          compatibilityDate: "2026-08-01",
          manifest: {
            mainModule: "dns-worker.js",
            modules: { "dns-worker.js": { type: "esm", contents: workerdModule("dns-worker") } },
          },
          exports: {
            ZoneObject: { type: "durable-object", storage: "sqlite" },
            IndexObject: { type: "durable-object", storage: "sqlite" },
          },
          env: {
            ZONES: { type: "durable-object", workerName: "dns", exportName: "ZoneObject" },
            ZONE_INDEX: { type: "durable-object", workerName: "dns", exportName: "IndexObject" },
            ...(listeners !== null && {
              LISTENERS: { type: "external" as const, address: listeners.address },
              LISTENERS_SECRET: { type: "text" as const, value: listeners.secret },
            }),
            ...Object.fromEntries(
              Object.entries(variables).map(([name, value]) => [
                name,
                { type: "text" as const, value: value as string },
              ]),
            ),
          },
        },
        // Straight into the worker: Miniflare's own entry in front of it costs more than the API.
        dev: { unsafeDirectSockets: [{ host, port }] },
      },
    ],
  });
}
