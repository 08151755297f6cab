/**
 * The Miniflare plugin of DNS: a binding to the record API of the companion worker (`worker/`).
 *
 *     env.DNS ──▶ DnsApi, an entrypoint of dns:worker ──▶ zone objects (Durable Objects)
 *
 * The binding's options are the `[dns]` table. A runtime has one companion worker, so all scripts
 * that are bound to it have to agree on the table.
 *
 * A binding of type `dns_remote` is the same API where the companion worker runs in a runtime of
 * its own, as it does beside a dev server: its options say where that one listens.
 */
import { mkdirSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { ParsedWorkerOptions, Plugin, Service } from "miniflare";
import { loadMiniflare } from "../base/packages.ts";
import { unsafeBindings, type UnsafeBinding } from "./unsafe-bindings.ts";
import { UserError } from "../base/user-error.ts";
import { workerdModule } from "../base/workerd-module.ts";

const { getPersistPath, ProxyNodeBinding } = loadMiniflare();

const pluginName = "dns";
const workerService = "dns:worker";
const zonesService = "dns:zones";
const remoteService = "dns:remote";
const remoteApiService = "dns:remote:api";
const objectClasses = { ZONES: "ZoneObject", ZONE_INDEX: "IndexObject" };

export const dnsPlugin: Plugin = {
  bindingTypeDescription: "DNS record API",

  getBindings(worker) {
    return dnsBindings(worker).map(({ name, kind }) => ({
      name,
      service: { name: kind === "api" ? workerService : remoteService, entrypoint: "DnsApi" },
    }));
  },

  getNodeBindings(worker) {
    return Object.fromEntries(
      dnsBindings(worker).map(({ name }) => [name, new ProxyNodeBinding()]),
    );
  },

  getExtensions({ options }) {
    const [first, ...others] = options.flatMap((worker) => dnsBindings(worker));
    const other = others.find(({ options: table }) => !isDeepStrictEqual(table, first?.options));
    if (first !== undefined && other !== undefined) {
      throw new UserError(
        `Bindings "${first.name}" and "${other.name}" have different options, but there is one ` +
          "DNS for all scripts: give both the same.",
      );
    }
    return [];
  },

  getServices({ options: worker, tmpPath, sharedOptions }) {
    const [binding] = dnsBindings(worker);
    if (binding === undefined) return [];
    if (binding.kind === "remote") return remoteServices(binding.options as RemoteOptions);
    const folder = getPersistPath(pluginName, tmpPath, sharedOptions.resourcePersistencePath);
    mkdirSync(folder, { recursive: true });
    return [
      { name: zonesService, disk: { path: folder, writable: true } },
      {
        name: workerService,
        worker: {
          compatibilityDate: "2026-08-01",
          modules: [{ name: "dns-worker.js", esModule: workerdModule("dns-worker") }],
          durableObjectNamespaces: Object.values(objectClasses).map((className) => ({
            className,
            uniqueKey: `ledge-dns-${className}`,
            enableSql: true,
          })),
          durableObjectStorage: { localDisk: zonesService },
          bindings: [
            ...Object.entries(objectClasses).map(([name, className]) => ({
              name,
              durableObjectNamespace: { className, serviceName: workerService },
            })),
            { name: "DNS_CONFIG", text: JSON.stringify(binding.options ?? {}) },
          ],
        },
      },
    ];
  },
};

/** Where a companion worker listens, and its owner's credentials. */
export interface RemoteOptions {
  readonly address: string;
  readonly email: string;
  readonly key: string;
}

function remoteServices({ address, email, key }: RemoteOptions): Service[] {
  return [
    { name: remoteApiService, external: { address, http: {} } },
    {
      name: remoteService,
      worker: {
        compatibilityDate: "2026-08-01",
        modules: [{ name: "dns-api-proxy.js", esModule: workerdModule("dns-api-proxy") }],
        bindings: [
          { name: "API", service: { name: remoteApiService } },
          { name: "EMAIL", text: email },
          { name: "KEY", text: key },
        ],
      },
    },
  ];
}

function dnsBindings(worker: ParsedWorkerOptions): UnsafeBinding<"api" | "remote">[] {
  return unsafeBindings(worker, pluginName, {
    "unsafe:dns": "api",
    "unsafe:dns_remote": "remote",
  });
}
