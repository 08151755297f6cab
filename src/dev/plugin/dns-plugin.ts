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
import { endProgramsWithThisProcess } from "../../base/programs.ts";
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
import { hasRuntimeSockets, reserveSocket } from "../../state/sockets.ts";
import type { Succession } from "../../state/succession.ts";
import { FolderUse, type MiniflareRun } from "./folder-use.ts";
import { differentPair, pluginBindings, Runs, type PluginBinding } from "./plugin-bindings.ts";

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

  getExtensions({ options: workers }) {
    runs.begin(workers);
    const served = workers.flatMap(dnsBindings).filter(({ kind }) => kind === "api");
    const different = differentPair(served);
    if (different === null) return [];
    const [first, other] = different;
    throw new UserError(
      `Bindings "${first.name}" and "${other.name}" have different options, but all scripts ` +
        "share one DNS: give both the same options.",
    );
  },

  async getServices({ options: worker, tmpPath, sharedOptions, loopbackHost, loopbackPort }) {
    const bindings = dnsBindings(worker);
    const [binding] = bindings.toSorted((one) => (one.kind === "api" ? -1 : 1));
    if (binding === undefined) return [];
    endProgramsWithThisProcess();
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
    const run = runs.of(worker);
    run.use ??= useZones(
      { folder, variables: { DNS_CONFIG: table } },
      {
        runId: run.runId,
        persistPath,
        loopbackHost,
        loopbackPort,
        succeeds: binding.kind === "api",
      },
    );
    await run.use;
    return clientServices(apiSocketPath(folder));
  },
};

/** The first script with a binding begins the use of the folder. */
const runs = new Runs<Promise<void>>();

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

/**
 * How a Miniflare with a binding to DNS uses the zones in a folder, from its first runtime to its
 * end: always as a client (`dns/server/zones-owner.ts`). The zones are never in the runtime of the
 * script, because a reload would interrupt DNS for all processes.
 */
class DnsUse extends FolderUse {
  #zones: Zones | undefined;
  #succession: Succession<ZonesOwner> | undefined;

  async begin(zones: Zones, { succeeds, ...run }: DnsRun): Promise<void> {
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
    await this.beginRun(run, false);
  }

  protected override onEnd(): void {
    void this.#succession?.stop();
  }
}

const uses = new Map<number, DnsUse>();

async function useZones(zones: Zones, run: DnsRun): Promise<void> {
  const { loopbackPort } = run;
  const last = uses.get(loopbackPort);
  const isSame = last?.folder === zones.folder;
  const use = isSame ? last : new DnsUse(pluginName, zones.folder, uses, loopbackPort);
  await use.begin(zones, run);
}
