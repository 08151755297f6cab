/**
 * The Miniflare plugin of DNS: a binding to the record API of the companion worker (`worker/`).
 *
 *     env.DNS ──▶ DnsApi of dns:worker ──▶ the folder's socket ──▶ the companion worker of the owner
 *     env.DNS ──▶ DnsApi of dns:worker ──▶ zone objects             without a folder, in tests
 *
 * The binding's options are the `[dns]` table. All scripts of a runtime share the zones, so all
 * bindings must have the same table.
 *
 * A binding of type `dns_remote` is for a dev server, which serves the zones itself. It has no
 * options.
 */
import { isDeepStrictEqual } from "node:util";
import type { ParsedWorkerOptions, Plugin, Service, Worker } from "miniflare";
import { hasRuntimeSockets } from "../state/sockets.ts";
import { newRunId } from "../state/runs.ts";
import { keepRuntimeFilesPrivate } from "../base/runtime-patches.ts";
import { callingMiniflare, nodeProxy } from "../base/miniflare.ts";
import { ownCompatibilityDate, workerdModule } from "../base/runtime.ts";
import { fullDeviceText, requireUsableFolder } from "../state/folder.ts";
import { UserError } from "../base/user-error.ts";
import { companionClasses } from "../dns/server/companion.ts";
import { apiSocketPath, zonesNeeds } from "../dns/server/zones-owner.ts";
import { DnsUse } from "./dns-use.ts";
import { pluginBindings, type PluginBinding } from "./plugin-bindings.ts";

const pluginName = "dns";
const workerService = "dns:worker";
const zonesService = "dns:zones";
const ownerService = "dns:owner";

export const dnsPlugin: Plugin = {
  bindingTypeDescription: "DNS record API",

  getBindings(worker) {
    return dnsBindings(worker).map(({ name }) => ({
      name,
      service: { name: workerService, entrypoint: "DnsApi" },
    }));
  },

  getNodeBindings(worker) {
    return Object.fromEntries(dnsBindings(worker).map(({ name }) => [name, nodeProxy()]));
  },

  /** Miniflare calls this method first, with all scripts of a run. */
  getExtensions({ options }) {
    const runId = newRunId();
    for (const worker of options) runIds.set(worker, runId);
    const [first, ...others] = options
      .flatMap((worker) => dnsBindings(worker))
      .filter(({ kind }) => kind === "api");
    const other = others.find(({ options: table }) => !isDeepStrictEqual(table, first?.options));
    if (first !== undefined && other !== undefined) {
      throw new UserError(
        `Bindings "${first.name}" and "${other.name}" have different options, but all scripts ` +
          "share one DNS: give both the same options.",
      );
    }
    return [];
  },

  async getServices({ options: worker, tmpPath, sharedOptions, loopbackHost, loopbackPort }) {
    const bindings = dnsBindings(worker);
    const [binding] = bindings.toSorted((one) => (one.kind === "api" ? -1 : 1));
    if (binding === undefined) return [];
    keepRuntimeFilesPrivate();
    const { resourcePersistencePath: persistPath } = sharedOptions;
    const folder = callingMiniflare().getPersistPath(pluginName, tmpPath, persistPath);
    const table = JSON.stringify(binding.options ?? {});
    // Only this runtime uses a temporary folder.
    if (persistPath === undefined) return companionServices(folder, table);
    if (!hasRuntimeSockets) {
      throw new UserError(
        `Binding "${binding.name}" needs Unix sockets, which the runtime does not have on Windows: ` +
          "use the Windows Subsystem for Linux.",
      );
    }
    const runId = runIds.get(worker) ?? newRunId();
    if (lastRunIds.get(loopbackPort) !== runId) {
      lastRunIds.set(loopbackPort, runId);
      await DnsUse.begin(
        { folder, variables: { DNS_CONFIG: table } },
        { runId, persistPath, loopbackHost, loopbackPort, succeeds: binding.kind === "api" },
      );
    }
    return clientServices(apiSocketPath(folder));
  },
};

const runIds = new WeakMap<ParsedWorkerOptions, string>();
/** The run that each Miniflare, by its loopback port, has started last. */
const lastRunIds = new Map<number, string>();

/** The companion worker in this runtime. */
function companionServices(folder: string, table: string): Service[] {
  const { isFull } = requireUsableFolder(folder, zonesNeeds);
  if (isFull) console.warn(fullDeviceText(folder));
  const place = { folder, databases: "ledge-dns-", isFull };
  return [
    { name: zonesService, disk: { path: folder, writable: true } },
    dnsWorker("dns-worker", {
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
        { name: "DNS_CONFIG", text: table },
      ],
    }),
  ];
}

/** A client of the companion worker in another runtime. */
function clientServices(socket: string): Service[] {
  return [
    { name: ownerService, external: { address: `unix:${socket}`, http: {} } },
    dnsWorker("dns-api-proxy", { bindings: [{ name: "OWNER", service: { name: ownerService } }] }),
  ];
}

function dnsWorker(moduleName: string, worker: Worker): Service {
  return {
    name: workerService,
    worker: {
      compatibilityDate: ownCompatibilityDate,
      modules: [{ name: `${moduleName}.js`, esModule: workerdModule(moduleName) }],
      ...worker,
    },
  };
}

function dnsBindings(worker: ParsedWorkerOptions): PluginBinding<"api" | "remote">[] {
  return pluginBindings(worker, pluginName, {
    "unsafe:dns": "api",
    "unsafe:dns_remote": "remote",
  });
}
