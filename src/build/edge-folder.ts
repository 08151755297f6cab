/**
 * The folder of a build: the configuration of workerd for a script whose buckets are on S3 services,
 * the modules, and the file that explains both.
 *
 *     socket "http" ──▶ service "script" ── env.PHOTOS ──▶ the binding (an extension module)
 *                                                            ├──▶ "s3", a network: the S3 services
 *                                                            └──▶ "spool", a folder: large content
 *
 * Secrets are not in the configuration: workerd reads them from its environment when it starts. The
 * folder is written whole: a build that fails leaves the earlier build.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { EmbeddedFile, indentedCapnpText, workerdConfigFile } from "../base/capnp-text.ts";
import { linesIf } from "../base/format.ts";
import { workerdModule } from "../base/runtime.ts";
import { UserError } from "../base/user-error.ts";
import type { BucketSettings } from "../store/core/operations.ts";
import {
  remoteVariables,
  type RemoteFeatures,
  type RemotePlace,
} from "../store/remote/remote-options.ts";
import type { ScriptBundle, ScriptModule, UploadedBinding } from "./script-bundle.ts";

export interface EdgeBucket {
  readonly binding: string;
  readonly place: RemotePlace;
  readonly features: RemoteFeatures;
  readonly settings: BucketSettings;
}

export interface ObjectClass {
  readonly className: string;
  /** Names the folder of the objects' databases. A class that is renamed keeps its key. */
  readonly uniqueKey: string;
  readonly hasSql: boolean;
}

export interface EdgeScript {
  readonly bundle: ScriptBundle;
  readonly buckets: readonly EdgeBucket[];
  /** The names of bindings whose values come from the environment. */
  readonly secrets: readonly string[];
  readonly objects: readonly ObjectClass[];
  /** Certificates of authorities that S3 services use, in PEM, besides those that browsers trust. */
  readonly authorities: readonly string[];
  /** `127.0.0.1:8080` */
  readonly address: string;
}

/** Relative to the folder of the build. */
const edgePaths = {
  config: "workerd.capnp",
  modules: "modules",
  extension: "ledge/store-remote-binding.js",
  spool: "spool",
  objects: "objects",
  notes: "README.md",
} as const;

const extensionModule = "ledge-internal:store-remote-binding";
const [scriptService, networkService] = ["script", "s3"];
/** Names of blobs begin with it. The rest of a name is random, so all runtimes can have the same. */
const runId = "0".repeat(16);

export function edgeConfigFile(script: EdgeScript): string {
  return (
    `# Written by ledge build. Start it in this folder: workerd serve ${edgePaths.config}\n` +
    `# Options of workerd replace places: --socket-addr=http=127.0.0.1:8080 --directory-path=spool=DIR\n` +
    workerdConfigFile(indentedCapnpText(edgeConfig(script)))
  );
}

function edgeConfig({ bundle, buckets, secrets, objects, ...script }: EdgeScript): object {
  const hasBuckets = buckets.length > 0;
  const { compatibilityDate, compatibilityFlags } = bundle;
  const extension = {
    name: extensionModule,
    internal: true,
    esModule: new EmbeddedFile(edgePaths.extension),
  };
  return {
    services: [
      {
        name: scriptService,
        worker: {
          compatibilityDate,
          ...(compatibilityFlags.length > 0 && { compatibilityFlags }),
          modules: bundle.modules.map(embedded),
          bindings: [
            ...bundle.bindings.map(plainBinding),
            ...secrets.map((name) => ({ name, fromEnvironment: name })),
            ...buckets.map(bucketBinding),
          ],
          ...(objects.length > 0 && {
            durableObjectNamespaces: objects.map(({ className, uniqueKey, hasSql }) => ({
              className,
              uniqueKey,
              enableSql: hasSql,
            })),
            durableObjectStorage: { localDisk: edgePaths.objects },
          }),
        },
      },
      ...(hasBuckets ? [network(script.authorities), folderService(edgePaths.spool)] : []),
      ...(objects.length > 0 ? [folderService(edgePaths.objects)] : []),
    ],
    sockets: [{ name: "http", address: script.address, http: {}, service: scriptService }],
    ...(hasBuckets && { extensions: [{ modules: [extension] }] }),
    logging: { structuredLogging: true },
  };
}

/** Private addresses too: a cluster seldom has a public address. */
function network(authorities: readonly string[]): object {
  const trusted = authorities.length > 0 && { trustedCertificates: authorities };
  const tlsOptions = { trustBrowserCas: true, ...trusted };
  return { name: networkService, network: { allow: ["public", "private"], tlsOptions } };
}

function folderService(name: string): object {
  return { name, disk: { path: name, writable: true } };
}

function embedded({ name, type }: ScriptModule): object {
  return { name, [type]: new EmbeddedFile(modulePath(name)) };
}

function modulePath(name: string): string {
  return `${edgePaths.modules}/${name}`;
}

function plainBinding({ name, type, text, json, class_name: className }: UploadedBinding): object {
  if (type === "plain_text") return { name, text };
  if (type === "json") return { name, json: JSON.stringify(json) };
  return { name, durableObjectNamespace: className };
}

function bucketBinding({ binding, place, features, settings }: EdgeBucket): object {
  const access = { bucketName: place.bucketName, runId, latencyMilliseconds: 0 };
  return {
    name: binding,
    wrapped: {
      moduleName: extensionModule,
      innerBindings: [
        { name: "remote", json: JSON.stringify({ ...place, features }) },
        ...Object.entries(remoteVariables(place.remote)).map(([name, variable]) => ({
          name,
          fromEnvironment: variable,
        })),
        { name: "network", service: networkService },
        { name: "spool", service: edgePaths.spool },
        { name: "bucket", json: JSON.stringify(access) },
        { name: "settings", json: JSON.stringify(settings) },
      ],
    },
  };
}

interface EdgeEnvironment {
  /** The variables of the environment that the runtime needs, and those that it may have. */
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

export function edgeEnvironment({
  buckets,
  secrets,
}: Pick<EdgeScript, "buckets" | "secrets">): EdgeEnvironment {
  const variables = buckets.map(({ place }) => remoteVariables(place.remote));
  const keys = variables.flatMap((each) => [each.accessKeyId, each.secretAccessKey]);
  return {
    required: [...new Set([...keys, ...secrets])],
    optional: [...new Set(variables.map(({ sessionToken }) => sessionToken))],
  };
}

interface EdgeNotes {
  readonly workerdVersion: string;
  readonly remarks: readonly string[];
}

function notesText(
  { buckets, objects, address }: EdgeScript,
  { workerdVersion, remarks, required, optional }: EdgeNotes & EdgeEnvironment,
): string {
  const hasBuckets = buckets.length > 0;
  const places = buckets.map(({ binding, place: { bucketName, endpoint, prefix } }) => {
    const begin = prefix === "" ? "" : `, keys begin with ${prefix}`;
    return `- \`env.${binding}\`: ${bucketName} at ${endpoint}${begin}`;
  });
  return [
    "# A script for workerd",
    "",
    "`ledge build` has written this folder. It needs workerd and nothing else: no Node, no npm.",
    "",
    "```sh",
    `cd THIS_FOLDER && workerd serve ${edgePaths.config}`,
    "```",
    "",
    `- workerd ${workerdVersion} is the version of the build. Use the same version, or a later one after a test.`,
    `- The script listens at ${address}. Another address: \`--socket-addr=http=0.0.0.0:8080\`.`,
    ...linesIf(
      hasBuckets,
      `- \`${edgePaths.spool}/\` holds large content while it is sent. The folder may be emptied while no ` +
        "runtime uses it. Another folder: `--directory-path=spool=DIR`.",
    ),
    ...linesIf(
      objects.length > 0,
      `- \`${edgePaths.objects}/\` holds the databases of the Durable Objects. One runtime at a time may use ` +
        "the folder, and another machine has other objects.",
    ),
    "- The log is on standard output, a line of JSON for each entry.",
    ...remarks.map((remark) => `- ${remark}`),
    "",
    ...linesIf(
      required.length > 0,
      "The environment of the runtime needs these variables, which no file of the build contains:",
      "",
      "```sh",
      ...required.map((name) => `${name}=`),
      ...optional.map((name) => `# ${name}=   for temporary keys`),
      "```",
      "",
    ),
    ...linesIf(hasBuckets, "Buckets:", "", ...places, ""),
  ].join("\n");
}

/**
 * Requires that the folder is empty, new, or made by an earlier build.
 *
 * @throws UserError otherwise: the build would remove files that it has not made
 */
export function requireOwnFolder(folder: string): void {
  if (!existsSync(folder) || existsSync(join(folder, edgePaths.config))) return;
  if (readdirSync(folder).length === 0) return;
  throw new UserError(
    `${folder} has files that ledge build has not written. Name an empty folder: --outdir DIR.`,
  );
}

/** @returns the paths of the files, and the variables that the runtime reads */
export function writeEdgeFolder(
  folder: string,
  script: EdgeScript,
  notes: EdgeNotes,
): EdgeEnvironment & { readonly files: readonly string[] } {
  const { bundle, buckets, objects } = script;
  const hasBuckets = buckets.length > 0;
  const environment = edgeEnvironment(script);
  const files = new Map<string, string | Uint8Array>([
    [edgePaths.config, edgeConfigFile(script)],
    ...bundle.modules.map(({ name, content }) => [modulePath(name), content] as const),
    ...(hasBuckets ? [[edgePaths.extension, workerdModule("store-remote-binding")] as const] : []),
    [edgePaths.notes, notesText(script, { ...notes, ...environment })],
  ]);
  for (const path of files.keys()) requireInside(path);
  for (const stale of [edgePaths.modules, dirname(edgePaths.extension)]) {
    rmSync(join(folder, stale), { recursive: true, force: true });
  }
  // These folders keep their content.
  if (hasBuckets) mkdirSync(join(folder, edgePaths.spool), { recursive: true });
  if (objects.length > 0) mkdirSync(join(folder, edgePaths.objects), { recursive: true });
  for (const [path, content] of files) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return { files: [...files.keys()], ...environment };
}

/** A module of a folder above the script has a name with `..`. */
function requireInside(path: string): void {
  if (posix.normalize(path) === path && !path.startsWith("/")) return;
  throw new UserError(
    `The module "${path}" is outside the folder of the script. Move it below the script's folder.`,
  );
}
