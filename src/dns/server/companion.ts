/**
 * The companion worker (`worker/`) in a runtime of its own: the service of the process that owns
 * the zones. It answers at the folder's socket, and at a second socket for clients with keys
 * (`api-port.ts`) and a third for https where the owner wants them.
 */
import { join } from "node:path";
import type { Service, Worker_Binding } from "miniflare";
import { makePrivateFolder } from "../../base/private-files.ts";
import { ownCompatibilityDate, workerdModule } from "../../base/runtime.ts";
import { finishRestoration } from "../../saved/journal.ts";
import { requireUsableFolder, stateFolderOf } from "../../state/folder.ts";
import { OwnRuntime } from "../../state/own-runtime.ts";
import { newRunId } from "../../state/runs.ts";
import { publishSocket, socketPath } from "../../state/sockets.ts";
import type { DnsVariables } from "../config/dns-config.ts";
import { apiSocketPath, zonesNeeds, type ZonesOwner } from "./zones-owner.ts";

export interface CompanionOptions {
  /** Whether the record API is served to clients with keys, too. */
  readonly isPublic: boolean;
  /** Where the worker publishes each change of a zone; `null` without listeners. */
  readonly listeners: {
    readonly address: string;
    readonly secret: string;
    reload(): Promise<void>;
  } | null;
  readonly onLaunch?: () => void;
}

/** The worker's Durable Object classes, by binding. wrangler.toml declares the same. */
export const companionClasses = { ZONES: "ZoneObject", ZONE_INDEX: "IndexObject" };

const endpoint = "LedgeDnsEndpoint";
const httpsEndpoint = "LedgeDnsHttps";
const workerService = "dns";
const databasesService = "databases";
const zonesService = "zones";
const listenersService = "listeners";
/** The folder of the databases in the zones' folder. */
const databasesFolder = "do";
const namespacePrefix = "dns-";

/** Where the record API answers clients with keys. The folder exists. */
export function publicSocketPath(folder: string): string {
  return socketPath(folder, "public");
}

/** Where the record API answers clients with keys that have come over https. The folder exists. */
export function httpsSocketPath(folder: string): string {
  return socketPath(folder, "https");
}

export function startCompanion(
  owner: ZonesOwner,
  variables: DnsVariables,
  options: CompanionOptions,
): Promise<OwnRuntime> {
  const { folder } = owner;
  const socket = socketPath(folder, newRunId());
  const service = { name: workerService, entrypoint: endpoint };
  return OwnRuntime.start({
    folder,
    config: {
      services: companionServices(folder, variables, options),
      sockets: [
        ...(options.isPublic ? publicSockets(folder) : []),
        { name: endpoint, path: socket, service },
      ],
    },
    beforeStart: () => finishRestoration(stateFolderOf(folder)),
    onStart: options.onLaunch,
    async onListen() {
      publishSocket(socket, apiSocketPath(folder));
      try {
        await options.listeners?.reload();
      } catch (error) {
        console.error("The DNS listeners cannot load the zones again:", error);
      }
    },
    onOutput: (line) => console.warn(line),
  });
}

function publicSockets(folder: string) {
  const service = { name: workerService };
  return [
    { name: "public", path: publicSocketPath(folder), service },
    {
      name: httpsEndpoint,
      path: httpsSocketPath(folder),
      service: { ...service, entrypoint: httpsEndpoint },
    },
  ];
}

function companionServices(
  folder: string,
  variables: DnsVariables,
  { listeners }: CompanionOptions,
): Service[] {
  const { isFull } = requireUsableFolder(folder, zonesNeeds);
  const databases = join(folder, databasesFolder);
  makePrivateFolder(databases);
  const place = { folder, databases: `${databasesFolder}/${namespacePrefix}`, isFull };
  const classes = Object.entries(companionClasses);
  const texts = { ...variables, ZONES_PLACE: JSON.stringify(place) };
  const bindings: Worker_Binding[] = [
    ...Object.entries(texts).map(([name, text]) => ({ name, text })),
    ...classes.map(([name, className]) => ({ name, durableObjectNamespace: { className } })),
    { name: "ZONES_DISK", service: { name: zonesService } },
  ];
  const services: Service[] = [
    { name: zonesService, disk: { path: folder, writable: true } },
    { name: databasesService, disk: { path: databases, writable: true } },
  ];
  if (listeners !== null) {
    const { address, secret } = listeners;
    services.push({ name: listenersService, external: { address, http: {} } });
    bindings.push(
      { name: "LISTENERS", service: { name: listenersService } },
      { name: "LISTENERS_SECRET", text: secret },
    );
  }
  const worker = {
    compatibilityDate: ownCompatibilityDate,
    modules: [{ name: "dns-worker.js", esModule: workerdModule("dns-worker") }],
    durableObjectNamespaces: classes.map(([, className]) => ({
      className,
      uniqueKey: `${namespacePrefix}${className}`,
      enableSql: true,
    })),
    durableObjectStorage: { localDisk: databasesService },
    bindings,
  };
  return [...services, { name: workerService, worker }];
}
