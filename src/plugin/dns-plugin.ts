/**
 * The Miniflare plugin of DNS: a binding to the record API of the companion worker (`worker/`).
 *
 *     env.DNS ──▶ DnsApi, an entrypoint of dns:worker ──▶ zone objects (Durable Objects)
 *
 * The binding's options are the `[dns]` table. A runtime has one companion worker, so all bindings
 * must have the same table.
 *
 * A binding of type `dns_remote` is the same API where the companion worker runs in another
 * runtime, as it does beside a dev server. Its options are the address and the credentials.
 */
import { isDeepStrictEqual } from "node:util";
import type { ParsedWorkerOptions, Plugin, Service } from "miniflare";
import { keepRuntimeFilesPrivate } from "../base/private-files.ts";
import { loadMiniflare, ownCompatibilityDate, workerdModule } from "../base/runtime.ts";
import { fullDeviceText, requireUsableFolder } from "../base/usable-folder.ts";
import { reserveName } from "../base/disk-space.ts";
import { UserError } from "../base/user-error.ts";
import { companionClasses, type RemoteOptions } from "../dns/server/companion.ts";
import { pluginBindings, type PluginBinding } from "./plugin-bindings.ts";

const { getPersistPath, ProxyNodeBinding } = loadMiniflare();

const pluginName = "dns";
const workerService = "dns:worker";
const zonesService = "dns:zones";
const remoteService = "dns:remote";
const remoteApiService = "dns:remote:api";

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
        `Bindings "${first.name}" and "${other.name}" have different options, but all scripts ` +
          "share one DNS: give both the same options.",
      );
    }
    return [];
  },

  getServices({ options: worker, tmpPath, sharedOptions }) {
    const [binding] = dnsBindings(worker);
    if (binding === undefined) return [];
    if (binding.kind === "remote") return remoteServices(binding.options as RemoteOptions);
    const folder = getPersistPath(pluginName, tmpPath, sharedOptions.resourcePersistencePath);
    const { isFull } = requireUsableFolder(folder, { reserve: reserveName });
    if (isFull) console.warn(fullDeviceText(folder));
    const place = { folder, databases: "ledge-dns-", isFull };
    keepRuntimeFilesPrivate();
    return [
      { name: zonesService, disk: { path: folder, writable: true } },
      {
        name: workerService,
        worker: {
          compatibilityDate: ownCompatibilityDate,
          modules: [{ name: "dns-worker.js", esModule: workerdModule("dns-worker") }],
          durableObjectNamespaces: Object.values(companionClasses).map((className) => ({
            className,
            uniqueKey: `ledge-dns-${className}`,
            enableSql: true,
          })),
          durableObjectStorage: { localDisk: zonesService },
          bindings: [
            ...Object.entries(companionClasses).map(([name, className]) => ({
              name,
              durableObjectNamespace: { className, serviceName: workerService },
            })),
            { name: "ZONES_DISK", service: { name: zonesService } },
            { name: "ZONES_PLACE", text: JSON.stringify(place) },
            { name: "DNS_CONFIG", text: JSON.stringify(binding.options ?? {}) },
          ],
        },
      },
    ];
  },
};

function remoteServices({ address, email, key }: RemoteOptions): Service[] {
  return [
    { name: remoteApiService, external: { address, http: {} } },
    {
      name: remoteService,
      worker: {
        compatibilityDate: ownCompatibilityDate,
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

function dnsBindings(worker: ParsedWorkerOptions): PluginBinding<"api" | "remote">[] {
  return pluginBindings(worker, pluginName, {
    "unsafe:dns": "api",
    "unsafe:dns_remote": "remote",
  });
}
