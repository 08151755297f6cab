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
import { callingMiniflare, nodeProxy } from "../../base/miniflare.ts";
import { keepRuntimeFilesPrivate } from "../../base/runtime-patches.ts";
import { ownCompatibilityDate, workerdModule } from "../../base/runtime.ts";
import { UserError } from "../../base/user-error.ts";
import { companionClasses } from "../../dns/server/companion.ts";
import { succeedZonesOwner } from "../../dns/server/zones-connection.ts";
import {
  apiSocketPath,
  zonesNeeds,
  type Zones,
  type ZonesOwner,
} from "../../dns/server/zones-owner.ts";
import { fullDeviceText, requireUsableFolder } from "../../state/folder.ts";
import { newRunId, RunRecords } from "../../state/runs.ts";
import { hasRuntimeSockets, reserveSocket } from "../../state/sockets.ts";
import type { Succession } from "../../state/succession.ts";
import { MiniflareRuns, type MiniflareRun } from "./miniflare-runs.ts";
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

interface DnsRun extends MiniflareRun {
  /** Whether the plugin serves the zones while no other process does. A dev server does so itself. */
  readonly succeeds: boolean;
}

/** By the loopback port of each Miniflare. */
const uses = new Map<number, DnsUse>();

/**
 * How a Miniflare with a binding to DNS uses the zones in a folder, from its first runtime to its
 * end: always as a client (`dns/server/zones-owner.ts`). The zones are never in the runtime of the
 * script, because a reload would interrupt DNS for all processes.
 */
class DnsUse {
  #zones: Zones;
  readonly #runs: MiniflareRuns;
  #succession: Succession<ZonesOwner> | undefined;

  private constructor(zones: Zones, loopbackPort: number, previous: DnsUse | undefined) {
    this.#zones = zones;
    this.#runs = new MiniflareRuns({
      plugin: "dns",
      records: new RunRecords(zones.folder),
      previous: previous && previous.#runs,
      onEnd: () => this.#end(loopbackPort),
    });
  }

  /** Called when Miniflare asks for the services of a run. Its runtime may start afterwards. */
  static async begin(zones: Zones, run: DnsRun): Promise<void> {
    const last = uses.get(run.loopbackPort);
    const isSame = last !== undefined && last.#zones.folder === zones.folder;
    const use = isSame ? last : new DnsUse(zones, run.loopbackPort, last);
    uses.set(run.loopbackPort, use);
    await use.#begin(zones, run);
  }

  async #begin(zones: Zones, { succeeds, ...run }: DnsRun): Promise<void> {
    requireUsableFolder(zones.folder, { ...zonesNeeds, reserveKept: true });
    await reserveSocket(apiSocketPath(zones.folder));
    if (!isDeepStrictEqual(zones, this.#zones)) {
      await this.#succession?.stop();
      this.#succession = undefined;
    }
    this.#zones = zones;
    if (succeeds) this.#succession ??= succeedZonesOwner(zones, (text) => console.warn(text));
    // A call from Node to a method of the binding blocks Node until the answer arrives, so this
    // process cannot start to serve the zones during the call.
    await this.#succession?.ready;
    await this.#runs.begin(run);
  }

  #end(loopbackPort: number): void {
    if (uses.get(loopbackPort) === this) uses.delete(loopbackPort);
    void this.#succession?.stop();
  }
}
