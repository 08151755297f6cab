/**
 * The Miniflare plugin of the store: which bindings a script gets, and the services behind them.
 *
 *     env.PHOTOS ──▶ StoreBucket (an extension module) ──▶ the buckets' worker (Durable Objects)
 *                                                     └──▶ store:blobs (a folder)
 *
 * One service holds the objects of all buckets, one disk service all blobs; a binding only says
 * which bucket it means.
 */
import type { ParsedWorkerOptions, Plugin, Worker_Binding } from "miniflare";
import { newRunId, type EndpointAddress } from "../base/run-record.ts";
import type { BucketSettings } from "../store/binding/invocation.ts";
import { parseBucketOptions, type BucketOptions } from "../config/bucket-options.ts";
import { compatibilitySettings, hasRpc, isStoreFlag } from "./compatibility.ts";
import { nodeBinding } from "../store/node/node-binding.ts";
import { loadMiniflare } from "../base/packages.ts";
import { bucketsService, clientBindings, storeServices } from "./store-services.ts";
import { unsafeBindings, type UnsafeBinding } from "./unsafe-bindings.ts";
import { workerdModule } from "../base/workerd-module.ts";

const { ProxyNodeBinding } = loadMiniflare();

const pluginName = "store";
const bindingModule = "ledge-internal:store-binding";

export const storePlugin: Plugin = {
  bindingTypeDescription: "Store bucket",

  /** Called first, with all scripts of a run: they share its runId. */
  getExtensions({ options }) {
    const runId = newRunId();
    for (const worker of options) runs.set(worker, runId);
    return [
      {
        modules: [
          { name: bindingModule, internal: true, esModule: workerdModule("store-binding") },
        ],
      },
    ];
  },

  getBindings(worker) {
    const rpc = hasRpc(worker.config.compatibilityDate, takeFlags(worker));
    return storeBindings(worker).map(({ name, kind, options }): Worker_Binding => {
      if (kind === "control") {
        return { name, service: { name: bucketsService, entrypoint: "StoreControl" } };
      }
      const parsed = parseBucketOptions(name, options);
      const { bucketName, latencyMilliseconds = 0 } = parsed;
      const bucket = { bucketName, runId: runIdOf(worker), rpc, latencyMilliseconds };
      return {
        name,
        wrapped: {
          moduleName: bindingModule,
          innerBindings: [
            ...clientBindings,
            { name: "bucket", json: JSON.stringify(bucket) },
            { name: "settings", json: JSON.stringify(bucketSettings(worker, parsed)) },
          ],
        },
      };
    });
  },

  getNodeBindings(worker) {
    return Object.fromEntries(
      storeBindings(worker).map(({ name, kind, options }) => [
        name,
        kind === "control"
          ? new ProxyNodeBinding()
          : nodeBinding(bucketSettings(worker, parseBucketOptions(name, options))),
      ]),
    );
  },

  async getServices(assembly) {
    const { options: worker } = assembly;
    const bindings = storeBindings(worker);
    if (bindings.length === 0) return [];
    const bucketNames = bindings
      .filter(({ kind }) => kind === "bucket")
      .map(({ name, options }) => parseBucketOptions(name, options).bucketName);
    const [handover] = bindings
      .filter(({ kind }) => kind === "control")
      .map(({ options }) => (options as { handover?: EndpointAddress } | undefined)?.handover);
    return storeServices(assembly, {
      pluginName,
      runId: runIdOf(worker),
      bucketNames,
      project: projectFolder(worker),
      ...(handover !== undefined && { handover }),
    });
  },
};

function bucketSettings(worker: ParsedWorkerOptions, options: BucketOptions): BucketSettings {
  return {
    storageClass: options.storageClass,
    allowUnsizedStreams: false,
    ...compatibilitySettings(
      options.compatibilityDate ?? worker.config.compatibilityDate,
      options.compatibilityFlags ?? takeFlags(worker),
    ),
  };
}

function storeBindings(worker: ParsedWorkerOptions): UnsafeBinding<"bucket" | "control">[] {
  return unsafeBindings(worker, pluginName, {
    "unsafe:store_bucket": "bucket",
    "unsafe:store_control": "control",
  });
}

/** The folder that tests may fill buckets from, if the control binding names one. */
function projectFolder(worker: ParsedWorkerOptions): string | undefined {
  const control = storeBindings(worker).find(({ kind }) => kind === "control");
  return (control?.options as { project_folder?: string } | undefined)?.project_folder;
}

/** The runId that a script's blobs are written under. */
const runs = new WeakMap<ParsedWorkerOptions, string>();

function runIdOf(worker: ParsedWorkerOptions): string {
  let runId = runs.get(worker);
  if (runId === undefined) runs.set(worker, (runId = newRunId()));
  return runId;
}

/** All flags a script was given. Ours are no longer among those that workerd will see. */
const givenFlags = new WeakMap<ParsedWorkerOptions, readonly string[]>();

function takeFlags(worker: ParsedWorkerOptions): readonly string[] {
  const { compatibilityFlags = [] } = worker.config;
  // Options can be assembled more than once, and then our flags are gone already.
  const flags = givenFlags.get(worker) ?? [...compatibilityFlags];
  givenFlags.set(worker, flags);
  compatibilityFlags.splice(0, Infinity, ...flags.filter((flag) => !isStoreFlag(flag)));
  return flags;
}
