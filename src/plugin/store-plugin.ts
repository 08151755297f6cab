/**
 * The Miniflare plugin of the store: the bindings of a script, and the services behind them.
 *
 *     env.PHOTOS ──▶ StoreBucket (an extension module) ──▶ the buckets' worker (Durable Objects)
 *                                                     └──▶ store:blobs (a folder)
 *
 * One service has the objects of all buckets, and one disk service all blobs; a binding only names
 * its bucket.
 */
import type { ParsedWorkerOptions, Plugin, Worker_Binding } from "miniflare";
import { keepRuntimeFilesPrivate } from "../base/private-files.ts";
import { newRunId } from "../base/run-records.ts";
import { loadMiniflare, workerdModule } from "../base/runtime.ts";
import { parseBucketOptions, type BucketOptions } from "../config/store-buckets.ts";
import type { BucketSettings } from "../store/core/bucket-settings.ts";
import { nodeBinding } from "../store/node/node-binding.ts";
import { compatibilitySettings, hasRpc, isStoreFlag } from "../config/compatibility.ts";
import { bucketsService } from "./endpoint-socket.ts";
import { pluginBindings, type PluginBinding } from "./plugin-bindings.ts";
import {
  clientBindings,
  pluginName,
  storeServices,
  type ControlOptions,
} from "./store-services.ts";

const { ProxyNodeBinding } = loadMiniflare();

const bindingModule = "ledge-internal:store-binding";

export const storePlugin: Plugin = {
  bindingTypeDescription: "Store bucket",

  /** Miniflare calls this method first, with all scripts of a run. */
  getExtensions({ options }) {
    const runId = newRunId();
    for (const worker of options) runIds.set(worker, runId);
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
      const { bucketName, latencyMilliseconds = 0, verifyReads = false } = parsed;
      const bucket = { bucketName, runId: runIdOf(worker), rpc, latencyMilliseconds, verifyReads };
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
    keepRuntimeFilesPrivate();
    const bucketNames = bindings
      .filter(({ kind }) => kind === "bucket")
      .map(({ name, options }) => parseBucketOptions(name, options).bucketName);
    const control = bindings.find(({ kind }) => kind === "control");
    const controlOptions: ControlOptions = control?.options ?? {};
    return storeServices(assembly, runIdOf(worker), bucketNames, controlOptions);
  },
};

function bucketSettings(worker: ParsedWorkerOptions, options: BucketOptions): BucketSettings {
  const { listTrailingDelimiter: trailingDelimiter } = options;
  return {
    storageClass: options.storageClass,
    allowUnsizedStreams: false,
    ...compatibilitySettings(
      options.compatibilityDate ?? worker.config.compatibilityDate,
      options.compatibilityFlags ?? takeFlags(worker),
    ),
    ...(trailingDelimiter !== undefined && { trailingDelimiter }),
  };
}

function storeBindings(worker: ParsedWorkerOptions): PluginBinding<"bucket" | "control">[] {
  return pluginBindings(worker, pluginName, {
    "unsafe:store_bucket": "bucket",
    "unsafe:store_control": "control",
  });
}

/** The run id in the names of a script's blobs. */
const runIds = new WeakMap<ParsedWorkerOptions, string>();

function runIdOf(worker: ParsedWorkerOptions): string {
  let runId = runIds.get(worker);
  if (runId === undefined) runIds.set(worker, (runId = newRunId()));
  return runId;
}

/** All flags of a script, also those that were removed from the list for workerd. */
const givenFlags = new WeakMap<ParsedWorkerOptions, readonly string[]>();

function takeFlags(worker: ParsedWorkerOptions): readonly string[] {
  const { compatibilityFlags = [] } = worker.config;
  // Miniflare can read the same options twice. The second time our flags are already removed.
  const flags = givenFlags.get(worker) ?? [...compatibilityFlags];
  givenFlags.set(worker, flags);
  compatibilityFlags.splice(0, Infinity, ...flags.filter((flag) => !isStoreFlag(flag)));
  return flags;
}
