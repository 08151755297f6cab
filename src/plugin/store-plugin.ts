/**
 * The Miniflare plugin of the store: which bindings a script gets, and the services behind them.
 *
 *     env.PHOTOS ──▶ StoreBucket (an extension module) ──▶ store:buckets (Durable Objects)
 *                                                     └──▶ store:blobs (a folder)
 *
 * One service holds the objects of all buckets, one disk service all blobs; a binding only says
 * which bucket it means.
 */
import { mkdirSync } from "node:fs";
import {
  getPersistPath,
  ProxyNodeBinding,
  type ParsedWorkerOptions,
  type Plugin,
  type PluginServicesOptions,
  type Service,
  type Worker_Binding,
} from "miniflare";
import { newBoot, noteBoot } from "./boot.ts";
import type { BucketSettings } from "../store/binding/settings.ts";
import { parseBucketOptions, type BucketOptions } from "./bucket-options.ts";
import { compatibilitySettings, hasRpc, isStoreFlag } from "./compatibility.ts";
import { nodeBinding } from "./node-binding.ts";
import { removePartialFiles } from "./partial-files.ts";
import { unsafeBindings, type UnsafeBinding } from "./unsafe-bindings.ts";
import { workerdModule } from "./workerd-module.ts";

const pluginName = "store";
const bucketsService = "store:buckets";
const databasesService = "store:databases";
const blobsService = "store:blobs";
const bootsService = "store:boots";
const projectService = "store:project";
const bindingModule = "ledge-internal:store-binding";
const bucketNamespace = { className: "BucketObject", serviceName: bucketsService };

export const storePlugin: Plugin = {
  bindingTypeDescription: "Store bucket",

  /** Called first, with all scripts of a run: they share its boot. */
  getExtensions({ options }) {
    const boot = newBoot();
    for (const worker of options) boots.set(worker, boot);
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
      const bucket = { bucketName: parsed.bucketName, boot: bootOf(worker), rpc };
      return {
        name,
        wrapped: {
          moduleName: bindingModule,
          innerBindings: [
            { name: "buckets", durableObjectNamespace: bucketNamespace },
            { name: "blobs", service: { name: blobsService } },
            { name: "joiner", service: { name: bucketsService, entrypoint: "ContentJoiner" } },
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

  async getServices(options) {
    return storeBindings(options.options).length === 0 ? [] : services(options);
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

async function services({
  options: worker,
  sharedOptions,
  tmpPath,
  loopbackHost,
  loopbackPort,
}: PluginServicesOptions): Promise<Service[]> {
  const folder = getPersistPath(pluginName, tmpPath, sharedOptions.resourcePersistencePath);
  const [databases, blobs, boots] = ["databases", "blobs", "boots"].map((name) => {
    const path = `${folder}/${name}`;
    mkdirSync(path, { recursive: true });
    return path;
  }) as [string, string, string];
  await noteBoot(bootOf(worker), boots, {
    processId: process.pid,
    host: loopbackHost,
    port: loopbackPort,
  });
  void removePartialFiles(blobs, boots);
  const project = projectFolder(worker);
  return [
    ...(project === undefined ? [] : [{ name: projectService, disk: { path: project } }]),
    { name: databasesService, disk: { path: databases, writable: true } },
    { name: blobsService, disk: { path: blobs, writable: true } },
    { name: bootsService, disk: { path: boots } },
    {
      name: bucketsService,
      worker: {
        compatibilityDate: "2026-08-01",
        compatibilityFlags: ["nodejs_compat"],
        modules: [{ name: "store-buckets.js", esModule: workerdModule("store-bucket") }],
        durableObjectNamespaces: [
          {
            className: bucketNamespace.className,
            uniqueKey: "ledge-store-bucket",
            enableSql: true,
            // Waking an evicted object costs milliseconds, and a bucket is small in memory.
            preventEviction: true,
          },
        ],
        durableObjectStorage: { localDisk: databasesService },
        bindings: [
          { name: "blobs", service: { name: blobsService } },
          { name: "buckets", durableObjectNamespace: bucketNamespace },
          { name: "boots", service: { name: bootsService } },
          { name: "boot", text: bootOf(worker) },
          ...(project === undefined
            ? []
            : [{ name: "project", service: { name: projectService } }]),
        ],
      },
    },
  ];
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

/** The boot that a script's blobs are written under. */
const boots = new WeakMap<ParsedWorkerOptions, string>();

function bootOf(worker: ParsedWorkerOptions): string {
  let boot = boots.get(worker);
  if (boot === undefined) boots.set(worker, (boot = newBoot()));
  return boot;
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
