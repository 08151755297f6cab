/**
 * The Miniflare plugin of the store: the bindings of a script, and the services behind them.
 *
 *     env.PHOTOS ──▶ StoreBucket (an extension module) ──▶ the buckets' worker (Durable Objects)
 *                                                     └──▶ store:blobs (a folder)
 *
 * One service has the objects of all buckets, and one disk service all blobs; a binding only names
 * its bucket. Buckets on S3 services have other bindings (`remote-binding.ts`).
 */
import { isDeepStrictEqual } from "node:util";
import type { ParsedWorkerOptions, Plugin, Worker_Binding } from "miniflare";
import { nodeProxy } from "../../base/miniflare.ts";
import { keepRuntimeFilesPrivate } from "../../base/runtime-patches.ts";
import { UserError } from "../../base/user-error.ts";
import {
  compatibilitySettings,
  hasRpc,
  isStoreFlag,
  parseBucketOptions,
  twoPlacesProblem,
  type BucketOptions,
} from "../../store/config/store-buckets.ts";
import { parseS3Options, type ProjectS3 } from "../../s3/s3-table.ts";
import { newRunId } from "../../state/runs.ts";
import { hasRuntimeSockets } from "../../state/sockets.ts";
import { StoreBucket } from "../../store/binding/store-bucket.ts";
import type { BucketSettings } from "../../store/core/operations.ts";
import { bucketsService, clientBindings } from "../../store/node/bucket-services.ts";
import { directCalls, nodeBinding } from "../../store/node/node-binding.ts";
import {
  bindingModuleName,
  bindingModules,
  pluginBindings,
  type PluginBinding,
} from "./plugin-bindings.ts";
import { remoteBinding, remoteServices } from "./remote-binding.ts";
import { pluginName, storeServices, type ControlOptions } from "./store-services.ts";
import { StoreUse, type S3Access } from "./store-use.ts";

export const storePlugin: Plugin = {
  bindingTypeDescription: "Store bucket",

  /** Miniflare calls this method first, with all scripts of a run. */
  getExtensions({ options }) {
    const runId = newRunId();
    for (const worker of options) runs.set(worker, { runId, workers: options });
    if (requireOneEndpoint(options) !== undefined) requireOnePlace(options);
    return [
      {
        modules: [
          ...bindingModules("store-binding"),
          // Only runs with remote buckets load them.
          ...(options.flatMap(boundBuckets).some(isRemote)
            ? bindingModules("store-remote-binding")
            : []),
        ],
      },
    ];
  },

  getBindings(worker) {
    const rpc = hasRpc(worker.config.compatibilityDate, takeFlags(worker));
    return Promise.all(
      storeBindings(worker).map(async ({ name, kind, options }): Promise<Worker_Binding> => {
        if (kind === "s3") return s3Binding(worker, name);
        if (kind === "control") {
          return { name, service: { name: bucketsService, entrypoint: "StoreControl" } };
        }
        return bucketBinding(worker, { name, rpc, options: parseBucketOptions(name, options) });
      }),
    );
  },

  getNodeBindings(worker) {
    return Object.fromEntries(
      storeBindings(worker).map(({ name, kind, options }) => [
        name,
        nodeValue(worker, { name, kind, options }),
      ]),
    );
  },

  async getServices(assembly) {
    const { options: worker } = assembly;
    const bindings = storeBindings(worker);
    if (bindings.length === 0) return [];
    keepRuntimeFilesPrivate();
    const control = bindings.find(({ kind }) => kind === "control");
    const controlOptions: ControlOptions = control?.options ?? {};
    const { runId, workers } = runOf(worker);
    const bound = workers.flatMap(boundBuckets);
    const local = bound.filter((options) => !isRemote(options));
    const bucketNames = [...new Set(local.map(({ bucketName }) => bucketName))];
    const s3 = requireOneEndpoint(workers);
    const remoteOnes = boundBuckets(worker).some(isRemote) ? remoteServices(assembly) : [];
    if (bindings.every(({ kind }) => kind === "bucket") && boundBuckets(worker).every(isRemote)) {
      return remoteOnes;
    }
    const services = await storeServices(assembly, {
      ...controlOptions,
      runId,
      bucketNames,
      isServed: s3 !== undefined,
    });
    if (s3 !== undefined) {
      const use = StoreUse.ofMiniflare(assembly.loopbackPort) as StoreUse;
      setS3Access(worker, await use.serveS3({ ...s3, bindings: bound.map(servedOptions) }));
    }
    return [...services, ...remoteOnes];
  },
};

interface BoundBucket {
  readonly name: string;
  readonly rpc: boolean;
  readonly options: BucketOptions;
}

function bucketBinding(
  worker: ParsedWorkerOptions,
  { name, rpc, options }: BoundBucket,
): Worker_Binding | Promise<Worker_Binding> {
  const { bucketName, latencyMilliseconds = 0, verifyReads = false, observed = false } = options;
  const { runId } = runOf(worker);
  const settings = bucketSettings(worker, options);
  const { remote } = options;
  if (remote !== undefined) {
    const bucket = { bucketName, runId, latencyMilliseconds };
    return remoteBinding(name, { remote, bucket, settings, observed });
  }
  const bucket = { bucketName, runId, rpc, latencyMilliseconds, verifyReads };
  return {
    name,
    wrapped: {
      moduleName: bindingModuleName("store-binding", observed),
      innerBindings: [
        ...clientBindings,
        { name: "bucket", json: JSON.stringify(bucket) },
        { name: "settings", json: JSON.stringify(settings) },
      ],
    },
  };
}

function nodeValue(
  worker: ParsedWorkerOptions,
  { name, kind, options }: PluginBinding<BindingKind>,
): unknown {
  if (kind === "control") return nodeProxy();
  if (kind === "s3") return JSON.parse(s3Binding(worker, name).json);
  return nodeBucket(worker, parseBucketOptions(name, options));
}

/**
 * A bucket in Node. Remote buckets, options that the binding in workerd applies, and runs without a socket
 * take the way through Miniflare's proxy.
 */
function nodeBucket(worker: ParsedWorkerOptions, options: BucketOptions): unknown {
  const { bucketName, latencyMilliseconds = 0, verifyReads = false } = options;
  const settings = bucketSettings(worker, options);
  const use = isRemote(options) ? undefined : StoreUse.ofRun(runOf(worker).runId);
  const isDirect = hasRuntimeSockets && latencyMilliseconds === 0 && !verifyReads;
  return use === undefined || !isDirect
    ? nodeProxy(nodeBinding(settings))
    : new StoreBucket(directCalls(use.bucket(bucketName)), {
        ...settings,
        allowUnsizedStreams: true,
      });
}

/** The bindings to the S3-compatible API of each script, by name. */
const s3Bindings = new WeakMap<ParsedWorkerOptions, Map<string, { name: string; json: string }>>();

/** Miniflare asks for bindings before it says where the state is, so the value is set afterwards. */
function s3Binding(worker: ParsedWorkerOptions, name: string): { name: string; json: string } {
  const bindings = s3Bindings.get(worker) ?? new Map<string, { name: string; json: string }>();
  s3Bindings.set(worker, bindings);
  const binding = bindings.get(name) ?? { name, json: "null" };
  bindings.set(name, binding);
  return binding;
}

function setS3Access(worker: ParsedWorkerOptions, access: S3Access): void {
  for (const { name, kind } of storeBindings(worker)) {
    if (kind === "s3") s3Binding(worker, name).json = JSON.stringify(access);
  }
}

/**
 * The options of the run's S3-compatible API; `undefined` without a binding to it.
 *
 * @throws UserError when bindings have different options: a Miniflare has one server
 */
function requireOneEndpoint(workers: readonly ParsedWorkerOptions[]): ProjectS3 | undefined {
  const [first, ...others] = workers
    .flatMap(storeBindings)
    .filter(({ kind }) => kind === "s3")
    .map(({ name, options }) => ({ name, options: parseS3Options(name, options) }));
  const other = others.find(({ options }) => !isDeepStrictEqual(options, first?.options));
  if (other !== undefined) {
    throw new UserError(
      `The bindings "${first?.name}" and "${other.name}" of type "store_s3" have different options. ` +
        "One server serves all buckets: give both bindings the same options.",
    );
  }
  return first?.options;
}

/**
 * A script finds a bucket by its binding, and the S3-compatible API by its name.
 *
 * @throws UserError when buckets of one name are in different places
 */
function requireOnePlace(workers: readonly ParsedWorkerOptions[]): void {
  const first = new Map<string, { binding: string; remote: string | undefined }>();
  for (const { name: binding, kind, options } of workers.flatMap(storeBindings)) {
    if (kind !== "bucket") continue;
    const { bucketName, remote } = parseBucketOptions(binding, options);
    const known = first.get(bucketName);
    if (known === undefined) first.set(bucketName, { binding, remote: remote?.name });
    else if (known.remote !== remote?.name) {
      const problem = twoPlacesProblem(bucketName, remote?.name, known);
      throw new UserError(
        `Store bucket "${binding}": ${problem}. The S3-compatible API serves one of them: use another name, or the same remote.`,
      );
    }
  }
}

function boundBuckets(worker: ParsedWorkerOptions): BucketOptions[] {
  return storeBindings(worker)
    .filter(({ kind }) => kind === "bucket")
    .map(({ name, options }) => parseBucketOptions(name, options));
}

function isRemote({ remote }: BucketOptions): boolean {
  return remote !== undefined;
}

/** The options that the S3-compatible API depends on: with others, the server starts again. */
function servedOptions({ bucketName, public: isPublic = false, remote }: BucketOptions) {
  return { bucketName, public: isPublic, ...(remote !== undefined && { remote }) };
}

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

type BindingKind = "bucket" | "control" | "s3";

function storeBindings(worker: ParsedWorkerOptions): PluginBinding<BindingKind>[] {
  return pluginBindings(worker, pluginName, {
    "unsafe:store_bucket": "bucket",
    "unsafe:store_control": "control",
    "unsafe:store_s3": "s3",
  });
}

/** The run of each script: the id in the names of its blobs, and all scripts of the run. */
const runs = new WeakMap<ParsedWorkerOptions, Run>();

interface Run {
  readonly runId: string;
  readonly workers: readonly ParsedWorkerOptions[];
}

function runOf(worker: ParsedWorkerOptions): Run {
  let run = runs.get(worker);
  if (run === undefined) runs.set(worker, (run = { runId: newRunId(), workers: [worker] }));
  return run;
}

/**
 * All flags of a script, also those that were removed from the list for workerd. By the list:
 * Miniflare can copy the options of a worker, and reads the same options more than once.
 */
const givenFlags = new WeakMap<readonly string[], readonly string[]>();

function takeFlags({ config }: ParsedWorkerOptions): readonly string[] {
  const { compatibilityFlags = [] } = config;
  const flags = givenFlags.get(compatibilityFlags) ?? [...compatibilityFlags];
  givenFlags.set(compatibilityFlags, flags);
  compatibilityFlags.splice(0, Infinity, ...flags.filter((flag) => !isStoreFlag(flag)));
  return flags;
}
