/**
 * The Miniflare plugin of isolation: a binding through which the test runner restores the files of KV,
 * D1, R2, caches and Durable Objects.
 *
 *     env.LEDGE_STATE ──▶ isolation:state ──▶ a Unix socket ──▶ serveState() in this process
 */
import { mkdirSync } from "node:fs";
import type { ParsedWorkerOptions, Plugin } from "miniflare";
import { observeRuntimesAt } from "../../base/programs.ts";
import { nodeProxy } from "../../base/miniflare.ts";
import { UserError } from "../../base/user-error.ts";
import {
  serveState,
  StateFiles,
  stateFolders,
  type StateKind,
} from "../../testing/isolation/state-files.ts";
import { pluginBindings, type PluginBinding } from "./plugin-bindings.ts";

const pluginName = "isolation";
const stateService = "isolation:state";

export const isolationPlugin: Plugin = {
  bindingTypeDescription: "State of a test runtime",

  getExtensions: () => [],

  getBindings: (worker) =>
    stateBindings(worker).map(({ name }) => ({ name, service: { name: stateService } })),

  getNodeBindings: (worker) =>
    Object.fromEntries(stateBindings(worker).map(({ name }) => [name, nodeProxy()])),

  async getServices({ options: worker, sharedOptions, tmpPath, loopbackPort }) {
    const [binding] = stateBindings(worker);
    if (binding === undefined) return [];
    if (sharedOptions.resourcePersistencePath !== undefined) {
      throw new UserError(
        "Tests cannot be isolated on a folder that other processes use too " +
          `(${sharedOptions.resourcePersistencePath}). Remove the option of the pool that names the folder, or ` +
          'turn off the isolation of bindings other than buckets: ledge({ isolate: ["store", "dns"] }).',
      );
    }
    const { kinds } = binding.options as { kinds: readonly StateKind[] };
    const folders = kinds.map((kind) => stateFolders[kind]);
    mkdirSync(tmpPath, { recursive: true });
    const server = await serveState(tmpPath, new StateFiles(tmpPath, folders));
    observeRuntimesAt(loopbackPort, pluginName, { onExit: () => server.close() });
    return [{ name: stateService, external: { address: `unix:${server.path}`, http: {} } }];
  },
};

function stateBindings(worker: ParsedWorkerOptions): PluginBinding<"state">[] {
  return pluginBindings(worker, pluginName, { "unsafe:state_files": "state" });
}
