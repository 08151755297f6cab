/**
 * The Miniflare plugin of the store: the bindings of a script, and the services behind them.
 *
 *     env.PHOTOS ──▶ StoreBucket (an extension module) ──▶ the buckets' worker (Durable Objects)
 *                                                     └──▶ store:blobs (a folder)
 *
 * One service has the objects of all buckets, and one disk service all blobs; a binding only names
 * its bucket. For a bucket on an S3 service, no owner and no database takes part:
 *
 *     env.PHOTOS ──▶ StoreBucket (an extension module) ──▶ internet (Miniflare's network service)
 *                                                     └──▶ store:spool (a folder)
 */
import { join } from "node:path";
import type {
  ParsedWorkerOptions,
  Plugin,
  PluginServicesOptions,
  Service,
  Worker_Binding,
  Worker_Module,
} from "miniflare";
import { callingMiniflare, nodeProxy } from "../../base/miniflare.ts";
import { makePrivateFolder } from "../../base/private-files.ts";
import { endProgramsWithThisProcess } from "../../base/programs.ts";
import { workerdModule } from "../../base/runtime.ts";
import { UserError } from "../../base/user-error.ts";
import { parseS3Options, type ProjectS3 } from "../../s3/s3-table.ts";
import type { ServedBinding } from "../../s3/server.ts";
import { OwnFolder } from "../../state/runs.ts";
import { hasRuntimeSockets } from "../../state/sockets.ts";
import { StoreBucket } from "../../store/binding/store-bucket.ts";
import { remotePlace, type ProjectRemote } from "../../store/config/remotes.ts";
import {
  compatibilitySettings,
  hasRpc,
  isStoreFlag,
  parseBucketOptions,
  twoPlacesProblem,
  type BucketOptions,
} from "../../store/config/store-buckets.ts";
import type { BucketSettings } from "../../store/core/operations.ts";
import { bucketsService, clientBindings } from "../../store/node/bucket-services.ts";
import { directCalls, nodeBinding } from "../../store/node/node-binding.ts";
import { requireRemote } from "../../store/node/remote-buckets.ts";
import { differentPair, pluginBindings, Runs } from "./plugin-bindings.ts";
import {
  pluginName,
  storeServices,
  type StoreRunOptions,
  type StoreUse,
} from "./store-services.ts";

const spoolService = "store:spool";
/** Miniflare's service for `fetch()`: it trusts the certificates of `NODE_EXTRA_CA_CERTS` too. */
export const networkService = "internet";

/** The use is `null` on a temporary folder, which only its runtime uses. */
const runs = new Runs<StoreUse | null>();

export const storePlugin: Plugin = {
  bindingTypeDescription: "Store bucket",

  getExtensions({ options: workers }) {
    runs.begin(workers);
    if (requireOneEndpoint(workers) !== undefined) requireOnePlace(workers);
    const modules = bindingModules("store-binding");
    // Only runs with remote buckets load them.
    if (workers.some(hasRemote)) modules.push(...bindingModules("store-remote-binding"));
    return [{ modules }];
  },

  getBindings(worker) {
    const rpc = hasRpc(worker.config.compatibilityDate, takeFlags(worker));
    return Promise.all(
      storeBindings(worker).map(async ({ name, kind, options }): Promise<Worker_Binding> => {
        if (kind === "s3") return s3Binding(worker, name);
        if (kind === "control") {
          return { name, service: { name: bucketsService, entrypoint: "StoreControl" } };
        }
        return bucketBinding(worker, { name, options: parseBucketOptions(name, options) }, rpc);
      }),
    );
  },

  getNodeBindings(worker) {
    return Object.fromEntries(
      storeBindings(worker).map(({ name, kind, options }): [string, unknown] => {
        if (kind === "control") return [name, nodeProxy()];
        if (kind === "s3") return [name, JSON.parse(s3Binding(worker, name).json)];
        return [name, nodeBucket(worker, parseBucketOptions(name, options))];
      }),
    );
  },

  async getServices(assembly) {
    const { options: worker } = assembly;
    const bindings = storeBindings(worker);
    if (bindings.length === 0) return [];
    endProgramsWithThisProcess();
    const control = bindings.find(({ kind }) => kind === "control");
    const run = runs.of(worker);
    const bound = run.workers.flatMap(boundBuckets).map(({ options }) => options);
    const local = bound.filter(({ remote }) => remote === undefined);
    const s3 = requireOneEndpoint(run.workers);
    const remoteOnes = hasRemote(worker) ? [spool(assembly)] : [];
    if (bindings.every(({ kind }) => kind === "bucket") && boundBuckets(worker).every(isRemote)) {
      return remoteOnes;
    }
    const services = await storeServices(assembly, run, {
      ...(control?.options as Pick<StoreRunOptions, "project_folder"> | undefined),
      bucketNames: [...new Set(local.map(({ bucketName }) => bucketName))],
      processDurable: processDurable(local),
      isServed: s3 !== undefined,
    });
    if (s3 !== undefined) {
      const access = await run.use?.serveS3({ ...s3, bindings: bound.map(servedOptions) });
      s3Accesses.set(run, JSON.stringify(access));
    }
    return [...services, ...remoteOnes];
  },
};

/**
 * Buckets for a worker beside the scripts.
 *
 * @param bucketNames those of the scripts' buckets that the worker gets, as `bucket:NAME`
 */
export function bucketBindings(
  workers: readonly ParsedWorkerOptions[],
  bucketNames: readonly string[],
): Promise<Worker_Binding[]> {
  const bound = workers.flatMap((worker) =>
    boundBuckets(worker).map(({ options }) => ({
      worker,
      options: { ...options, observed: false },
    })),
  );
  return Promise.all(
    bucketNames.flatMap((bucketName) => {
      const found = bound.find(({ options }) => options.bucketName === bucketName);
      const name = `bucket:${bucketName}`;
      return found ? bucketBinding(found.worker, { name, options: found.options }, true) : [];
    }),
  );
}

/** The control of the store, as `store`, for a worker beside scripts with buckets in the store. */
export function storeControlBinding(workers: readonly ParsedWorkerOptions[]): Worker_Binding[] {
  const hasStore = workers.flatMap(boundBuckets).some((bucket) => !isRemote(bucket));
  return hasStore
    ? [{ name: "store", service: { name: bucketsService, entrypoint: "StoreControl" } }]
    : [];
}

interface BoundBucket {
  readonly name: string;
  readonly options: BucketOptions;
}

async function bucketBinding(
  worker: ParsedWorkerOptions,
  { name, options }: BoundBucket,
  rpc: boolean,
): Promise<Worker_Binding> {
  const { bucketName, latencyMilliseconds = 0, verifyReads = false, observed = false } = options;
  const { remote } = options;
  const bucket = { bucketName, runId: runs.of(worker).runId, latencyMilliseconds };
  const settings = JSON.stringify(bucketSettings(worker, options));
  const module = remote === undefined ? "store-binding" : "store-remote-binding";
  return {
    name,
    wrapped: {
      moduleName: moduleName(module, observed),
      innerBindings: [
        ...(remote === undefined ? clientBindings : await remoteBindings(remote, bucketName)),
        {
          name: "bucket",
          json: JSON.stringify(remote === undefined ? { ...bucket, rpc, verifyReads } : bucket),
        },
        { name: "settings", json: settings },
      ],
    },
  };
}

/** @throws UserError when the service cannot be used, or lacks what a bucket needs */
async function remoteBindings(
  remote: ProjectRemote,
  bucketName: string,
): Promise<Worker_Binding[]> {
  const place = remotePlace(remote, bucketName);
  const { credentials, accept } = remote;
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const features = await requireRemote({ ...place, credentials, accept });
  return [
    { name: "remote", json: JSON.stringify({ ...place, features }) },
    { name: "accessKeyId", text: accessKeyId },
    { name: "secretAccessKey", text: secretAccessKey },
    ...(sessionToken === undefined ? [] : [{ name: "sessionToken", text: sessionToken }]),
    { name: "network", service: { name: networkService } },
    { name: "spool", service: { name: spoolService } },
  ];
}

/**
 * The folder of this process, in which streams wait. A file is removed when it was sent, so the folder of a
 * process that has ended has only files that a crash has left.
 */
function spool({ sharedOptions, tmpPath }: PluginServicesOptions): Service {
  const { resourcePersistencePath: persistPath } = sharedOptions;
  const storeFolder = callingMiniflare().getPersistPath(pluginName, tmpPath, persistPath);
  const folder = join(storeFolder, "spool");
  makePrivateFolder(folder);
  const own = spools.get(folder) ?? new OwnFolder(folder, "process-");
  spools.set(folder, own);
  return { name: spoolService, disk: { path: own.path, writable: true } };
}

const spools = new Map<string, OwnFolder>();

/** A module in the isolate of the script, which makes a binding. */
type BindingModule = "store-binding" | "store-remote-binding";

function moduleName(module: BindingModule, observed: boolean): string {
  return `ledge-internal:${module}${observed ? "-observed" : ""}`;
}

/**
 * The module of a binding, and its module for a script that the explorer observes. A module of its own, because
 * it needs a module of the runtime that earlier versions of workerd do not have, and workerd loads it only if
 * a binding names it.
 */
function bindingModules(module: BindingModule): (Worker_Module & { internal: boolean })[] {
  const observedSource = `
    import tracing from "cloudflare-internal:tracing";
    import createBinding from "${moduleName(module, false)}";
    export default (inner) => createBinding(inner, tracing);
  `;
  return [
    { name: moduleName(module, false), internal: true, esModule: workerdModule(module) },
    { name: moduleName(module, true), internal: true, esModule: observedSource },
  ];
}

/**
 * A bucket in Node. Remote buckets, options that the binding in workerd applies, and runs without a socket
 * take the way through Miniflare's proxy.
 */
function nodeBucket(worker: ParsedWorkerOptions, options: BucketOptions): unknown {
  const { bucketName, remote, latencyMilliseconds = 0, verifyReads = false } = options;
  const settings = bucketSettings(worker, options);
  const { use } = runs.of(worker);
  const isDirect =
    remote === undefined && hasRuntimeSockets && latencyMilliseconds === 0 && !verifyReads;
  if (!isDirect || use === undefined || use === null) return nodeProxy(nodeBinding(settings));
  const nodeSettings = { ...settings, allowUnsizedStreams: true };
  return new StoreBucket(directCalls(use.bucket(bucketName)), nodeSettings);
}

/** What a client of the S3-compatible API of each run needs, as JSON. */
const s3Accesses = new WeakMap<object, string>();

/** Miniflare asks for bindings before it says where the state is, and reads their values afterwards. */
function s3Binding(worker: ParsedWorkerOptions, name: string) {
  const run = runs.of(worker);
  return {
    name,
    get json(): string {
      return s3Accesses.get(run) ?? "null";
    },
  };
}

/**
 * The options of the run's S3-compatible API; `undefined` without a binding to it.
 *
 * @throws UserError when bindings have different options: a Miniflare has one server
 */
function requireOneEndpoint(workers: readonly ParsedWorkerOptions[]): ProjectS3 | undefined {
  const endpoints = workers
    .flatMap(storeBindings)
    .filter(({ kind }) => kind === "s3")
    .map(({ name, options }) => ({ name, options: parseS3Options(name, options) }));
  const different = differentPair(endpoints);
  if (different === null) return endpoints[0]?.options;
  const [first, other] = different;
  throw new UserError(
    `The bindings "${first.name}" and "${other.name}" of type "store_s3" have different options. ` +
      "One server serves all buckets: give both bindings the same options.",
  );
}

/**
 * A script finds a bucket by its binding, and the S3-compatible API by its name.
 *
 * @throws UserError when buckets of one name are in different places
 */
function requireOnePlace(workers: readonly ParsedWorkerOptions[]): void {
  const first = new Map<string, { binding: string; remote: string | undefined }>();
  for (const { name: binding, options } of workers.flatMap(boundBuckets)) {
    const { bucketName } = options;
    const remote = options.remote?.name;
    const known = first.get(bucketName) ?? { binding, remote };
    first.set(bucketName, known);
    if (known.remote === remote) continue;
    const problem = twoPlacesProblem(bucketName, remote, known);
    throw new UserError(
      `Store bucket "${binding}": ${problem}. The S3-compatible API serves one of them: use another name, or the same remote.`,
    );
  }
}

/** The buckets that have `durability = "process"` in all their bindings. */
function processDurable(buckets: readonly BucketOptions[]): string[] {
  const byName = Object.groupBy(buckets, ({ bucketName }) => bucketName);
  return Object.keys(byName).filter((name) =>
    byName[name]?.every(({ durability }) => durability === "process"),
  );
}

function boundBuckets(worker: ParsedWorkerOptions): BoundBucket[] {
  return storeBindings(worker)
    .filter(({ kind }) => kind === "bucket")
    .map(({ name, options }) => ({ name, options: parseBucketOptions(name, options) }));
}

function isRemote({ options }: BoundBucket): boolean {
  return options.remote !== undefined;
}

function hasRemote(worker: ParsedWorkerOptions): boolean {
  return boundBuckets(worker).some(isRemote);
}

/** The options that the S3-compatible API depends on: with others, the server starts again. */
function servedOptions(options: BucketOptions): ServedBinding {
  const { bucketName, public: isPublic = false, remote, s3Compatibility, storageClass } = options;
  return { bucketName, public: isPublic, remote, s3Compatibility, storageClass };
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

function storeBindings(worker: ParsedWorkerOptions) {
  return pluginBindings(worker, pluginName, {
    "unsafe:store_bucket": "bucket",
    "unsafe:store_control": "control",
    "unsafe:store_s3": "s3",
  });
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
