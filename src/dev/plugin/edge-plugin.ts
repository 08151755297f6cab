/**
 * The Miniflare plugin of the edge: the edge worker (`edge/worker/`) in the runtime of the scripts, with a socket of
 * its own.
 *
 *     wrangler's proxy ──▶ the socket ──▶ edge:worker ──▶ core:entry, buckets, origins, the zones of the folder
 *
 * The binding that asks for the plugin names a member: the dev server has the rest (`edge/node/dev-edge.ts`).
 */
import type { ParsedWorkerOptions, Plugin, Service } from "miniflare";
import {
  directSockets,
  scriptService,
  setDirectSockets,
  setOutbound,
} from "../../base/miniflare.ts";
import { makePrivateFolder } from "../../base/private-files.ts";
import { observeRuntimesAt } from "../../base/programs.ts";
import { ownCompatibilityDate, workerdModule } from "../../base/runtime.ts";
import { apiSocketPath } from "../../dns/server/zones-owner.ts";
import { findEdge, type DevEdge } from "../../edge/node/dev-edge.ts";
import { pluginFolder } from "../../state/folder.ts";
import { reserveSocket } from "../../state/sockets.ts";
import { pluginBindings, Runs } from "./plugin-bindings.ts";
import { activityService, isActivityObserved } from "./tail-plugins.ts";
import { bucketBindings, networkService, storeControlBinding } from "./store-plugin.ts";

const pluginName = "edge";
/** Miniflare finds the worker by this name, as if it were a script. */
const workerName = "ledge-edge";
const entrypoint = "LedgeEdge";
const outboundEntrypoint = "LedgeOutbound";
const zonesService = "edge:zones";
const originsService = "edge:origins";
/** Miniflare's worker before the scripts. */
const entryService = "core:entry";

const runs = new Runs<never>();

export const edgePlugin: Plugin = {
  bindingTypeDescription: "Edge",
  getBindings: () => [],
  getNodeBindings: () => ({}),

  getExtensions({ options: workers }) {
    runs.begin(workers);
    if (!workers.some(edgeOf)) return [];
    for (const worker of workers) {
      const { name: script, compatibilityFlags: flags } = worker.config;
      const isPublicFetch = flags?.includes("global_fetch_strictly_public") === true;
      const props = { script, isPublicFetch };
      setOutbound(worker, { workerName, exportName: outboundEntrypoint, props });
    }
    return [];
  },

  async getServices({ options: worker, sharedOptions, loopbackPort }) {
    const edge = edgeOf(worker);
    if (edge === undefined) return [];
    const sockets = directSockets(worker).filter((socket) => socket.entrypoint !== entrypoint);
    const socket = { host: "127.0.0.1", port: 0, serviceName: workerName, entrypoint };
    setDirectSockets(worker, [...sockets, socket]);
    // Miniflare would give every URL the host of the first route.
    delete (sharedOptions as { upstream?: string }).upstream;
    observeRuntimesAt(loopbackPort, pluginName, {
      onStart: (processId) => edge.onStart(processId),
      onListen(name, port) {
        if (name.endsWith(entrypoint)) edge.onListen(port);
      },
    });
    return edgeServices(edge, runs.of(worker).workers);
  },
};

async function edgeServices(
  edge: DevEdge,
  workers: readonly ParsedWorkerOptions[],
): Promise<Service[]> {
  const folder = pluginFolder(edge.stateFolder, "dns");
  makePrivateFolder(folder);
  const zonesSocket = apiSocketPath(folder);
  await reserveSocket(zonesSocket);
  const [, ...others] = workers.map(({ config }) => config);
  return [
    { name: zonesService, external: { address: `unix:${zonesSocket}`, http: {} } },
    { name: originsService, external: { address: await edge.originsAddress(), http: {} } },
    {
      name: scriptService(workerName),
      worker: {
        compatibilityDate: ownCompatibilityDate,
        // Sockets of scripts (`connect()`) leave as before. Only the dev server can end Durable Objects.
        compatibilityFlags: ["connect_pass_through", "unsafe_module"],
        modules: [{ name: "edge-worker.js", esModule: workerdModule("edge-worker") }],
        bindings: [
          { name: "entry", service: { name: entryService } },
          { name: "network", service: { name: networkService } },
          { name: "zones", service: { name: zonesService } },
          { name: "origins", service: { name: originsService } },
          { name: "state", json: edge.startState() },
          { name: "otherScripts", json: JSON.stringify(others.map(({ name }) => name)) },
          ...(workers.some(isActivityObserved)
            ? [{ name: "activity", service: { name: activityService } }]
            : []),
          ...storeControlBinding(workers),
          ...(await bucketBindings(workers, edge.bucketNames)),
        ],
      },
    },
  ];
}

function edgeOf(worker: ParsedWorkerOptions): DevEdge | undefined {
  const [binding] = pluginBindings(worker, pluginName, { "unsafe:edge": "edge" });
  return binding && findEdge((binding.options as { readonly member: string }).member);
}
