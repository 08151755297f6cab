/**
 * The folder of a build: the configuration of workerd for a script whose buckets are on S3 services,
 * the modules, and the file that explains both.
 *
 *     socket "http" ────▶ service "script" ── env.PHOTOS ──▶ the binding (an extension module)
 *                            │                                ├──▶ "s3", a network: the S3 services
 *     socket "status" ──▶ LedgeStatus ── reads its counters ──┘ └▶ "spool", a folder: large content
 *     env.SESSIONS ─▶ service "kv-SESSIONS", a worker over a binding of its own
 *
 * The main module exports what the script's main module exports, and the entrypoint of the status: the counters are
 * in the isolate of the script.
 *
 * Secrets are not in the configuration: workerd reads them from its environment when it starts. The
 * folder is written whole: a build that fails leaves the earlier build.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, posix } from "node:path";
import { EmbeddedFile, indentedCapnpText, workerdConfigFile } from "../base/capnp-text.ts";
import { linesIf } from "../base/format.ts";
import { ownCompatibilityDate, workerdModule } from "../base/runtime.ts";
import { UserError } from "../base/user-error.ts";
import type { BucketSettings } from "../store/core/operations.ts";
import {
  remoteVariables,
  type RemoteFeatures,
  type RemoteGap,
  type RemotePlace,
} from "../store/remote/remote-options.ts";
import type { ScriptBundle, ScriptModule, UploadedBinding } from "./script-bundle.ts";

export interface EdgeBucket {
  readonly binding: string;
  readonly place: RemotePlace;
  /** The file that has the keys; `null`: the environment has them. */
  readonly keysFile: string | null;
  readonly features: RemoteFeatures;
  readonly accept: readonly RemoteGap[];
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
  /** KV namespaces: each is a worker over a bucket. */
  readonly namespaces: readonly EdgeBucket[];
  /** The names of bindings whose values come from the environment. */
  readonly secrets: readonly string[];
  readonly objects: readonly ObjectClass[];
  /** Certificates of the authorities that S3 services use, in PEM. None: those that browsers trust. */
  readonly authorities: readonly string[];
  /** `127.0.0.1:8080` */
  readonly address: string;
  /** Of the status; `null` without status. */
  readonly statusAddress: string | null;
}

/** Relative to the folder of the build. */
const edgePaths = {
  config: "workerd.capnp",
  modules: "modules",
  main: "ledge/main.js",
  status: "ledge/status.js",
  extension: "ledge/store-remote-binding.js",
  namespace: "ledge/store-namespace.js",
  spool: "spool",
  notes: "README.md",
} as const;

/** `requests`: a line of the log for each request to an S3 service. */
const logVariable = "LEDGE_LOG";
const extensionModule = "ledge-internal:store-remote-binding";
/**
 * A secret is a wrapped binding, because a variable that is missing is null as a binding `fromEnvironment`. An
 * error of a wrapped binding ends the start of workerd.
 */
const secretModule = {
  name: "ledge-internal:secret",
  internal: true,
  esModule: [
    "export default ({ name, value }) => {",
    "  if (value !== null) return value;",
    "  throw new Error(`The environment has no ${name}: set it before workerd starts.`);",
    "};",
  ].join("\n"),
};
const bindingModule = {
  name: extensionModule,
  internal: true,
  esModule: new EmbeddedFile(edgePaths.extension),
};
const [scriptService, networkService, objectsFolder, keysFolder] = [
  "script",
  "s3",
  "objects",
  "keys",
];
const statusEntrypoint = "LedgeStatus";
/** Beside the modules of the script, which import each other by relative names. */
const statusModules = [
  { name: "ledge-main.js", esModule: new EmbeddedFile(edgePaths.main) },
  { name: "ledge-status.js", esModule: new EmbeddedFile(edgePaths.status) },
];
/** Names of blobs begin with it. The rest of a name is random, so all runtimes can have the same. */
const runId = "0".repeat(16);

export function edgeConfigFile(script: EdgeScript): string {
  return (
    `# Written by ledge build. Start it in this folder: workerd serve ${edgePaths.config}\n` +
    `# Options of workerd replace places: --socket-addr=http=127.0.0.1:8080 --directory-path=spool=DIR\n` +
    workerdConfigFile(indentedCapnpText(edgeConfig(script)))
  );
}

function edgeConfig(script: EdgeScript): object {
  const { bundle, buckets, namespaces, secrets, objects } = script;
  const hasBuckets = allBuckets(script).length > 0;
  const { compatibilityDate, compatibilityFlags } = bundle;
  const modules = [
    ...(hasBuckets ? [bindingModule] : []),
    ...(secrets.length > 0 ? [secretModule] : []),
  ];
  return {
    services: [
      {
        name: scriptService,
        worker: {
          compatibilityDate,
          ...(compatibilityFlags.length > 0 && { compatibilityFlags }),
          modules: [
            ...(script.statusAddress === null ? [] : statusModules),
            ...bundle.modules.map(embedded),
          ],
          bindings: [
            ...bundle.bindings.map(plainBinding),
            ...secrets.map(secretBinding),
            ...buckets.map(bucketBinding),
          ],
          ...(objects.length > 0 && {
            durableObjectNamespaces: objects.map(({ className, uniqueKey, hasSql }) => ({
              className,
              uniqueKey,
              enableSql: hasSql,
            })),
            durableObjectStorage: { localDisk: objectsFolder },
          }),
        },
      },
      ...(hasBuckets
        ? [network(script.authorities), folderService(edgePaths.spool, edgePaths.spool)]
        : []),
      ...keysFolders(allBuckets(script)),
      ...namespaces.map(namespaceWorker),
      // Without a path: workerd does not start without an option that names the folder.
      ...(objects.length > 0 ? [folderService(objectsFolder)] : []),
    ],
    sockets: [
      { name: "http", address: script.address, http: {}, service: scriptService },
      ...(script.statusAddress === null ? [] : [statusSocket(script.statusAddress)]),
    ],
    ...(modules.length > 0 && { extensions: [{ modules }] }),
    logging: { structuredLogging: true },
  };
}

/** Private addresses too: a cluster seldom has a public address. */
function network(authorities: readonly string[]): object {
  const tlsOptions =
    authorities.length > 0 ? { trustedCertificates: authorities } : { trustBrowserCas: true };
  return { name: networkService, network: { allow: ["public", "private"], tlsOptions } };
}

/** @param path absent: `--directory-path=NAME=FOLDER` has to name the folder */
function folderService(name: string, path?: string): object {
  return { name, disk: { path, writable: true } };
}

function statusSocket(address: string): object {
  const service = { name: scriptService, entrypoint: statusEntrypoint };
  return { name: "status", address, http: {}, service };
}

function mainModuleText([main]: readonly ScriptModule[]): string {
  const script = JSON.stringify(`./${main?.name}`);
  return [
    `export * from ${script};`,
    `export { default } from ${script};`,
    `export { ${statusEntrypoint} } from "./ledge-status.js";`,
    "",
  ].join("\n");
}

function secretBinding(name: string): object {
  return {
    name,
    wrapped: {
      moduleName: secretModule.name,
      innerBindings: [
        { name: "name", text: name },
        { name: "value", fromEnvironment: name },
      ],
    },
  };
}

function embedded({ name, type }: ScriptModule): object {
  return { name, [type]: new EmbeddedFile(modulePath(name)) };
}

function modulePath(name: string): string {
  return `${edgePaths.modules}/${name}`;
}

function plainBinding({ name, type, text, json, class_name: className }: UploadedBinding): object {
  if (type === "kv_namespace") return { name, kvNamespace: namespaceService(name) };
  if (type === "plain_text") return { name, text };
  if (type === "json") return { name, json: JSON.stringify(json) };
  return { name, durableObjectNamespace: className };
}

function keysFolders(buckets: readonly EdgeBucket[]): object[] {
  const file = buckets.find(({ keysFile }) => keysFile !== null)?.keysFile;
  return file == null ? [] : [{ name: keysFolder, disk: { path: dirname(file) } }];
}

function keyBindings({ place, keysFile }: EdgeBucket): object[] {
  if (keysFile === null) {
    return Object.entries(remoteVariables(place.remote)).map(([name, variable]) => ({
      name,
      fromEnvironment: variable,
    }));
  }
  return [
    { name: "keys", service: keysFolder },
    { name: "keysFile", text: basename(keysFile) },
  ];
}

function bucketBinding(bucket: EdgeBucket): object {
  const { binding, place, features, accept, settings } = bucket;
  const access = { bucketName: place.bucketName, runId, latencyMilliseconds: 0 };
  return {
    name: binding,
    wrapped: {
      moduleName: extensionModule,
      innerBindings: [
        { name: "remote", json: JSON.stringify({ ...place, features, accept }) },
        ...keyBindings(bucket),
        { name: "network", service: networkService },
        { name: "spool", service: edgePaths.spool },
        { name: "bucket", json: JSON.stringify(access) },
        { name: "settings", json: JSON.stringify(settings) },
        { name: "status", json: JSON.stringify({ binding }) },
        { name: "log", fromEnvironment: logVariable },
      ],
    },
  };
}

function namespaceService(binding: string): string {
  return `kv-${binding}`;
}

function namespaceWorker(namespace: EdgeBucket): object {
  const { binding, features } = namespace;
  return {
    name: namespaceService(binding),
    worker: {
      compatibilityDate: ownCompatibilityDate,
      modules: [{ name: "worker", esModule: new EmbeddedFile(edgePaths.namespace) }],
      bindings: [
        bucketBinding({ ...namespace, binding: "BUCKET" }),
        { name: "REMOVES_EXPIRED", json: JSON.stringify(features.conditionalDelete) },
      ],
    },
  };
}

function allBuckets({
  buckets,
  namespaces,
}: Pick<EdgeScript, "buckets" | "namespaces">): readonly EdgeBucket[] {
  return [...buckets, ...namespaces];
}

interface EdgeEnvironment {
  /** The variables of the environment that the runtime needs, and those that it may have. */
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

export function edgeEnvironment(
  script: Pick<EdgeScript, "buckets" | "namespaces" | "secrets">,
): EdgeEnvironment {
  const withoutFile = allBuckets(script).filter(({ keysFile }) => keysFile === null);
  const variables = withoutFile.map(({ place }) => remoteVariables(place.remote));
  const keys = variables.flatMap((each) => [each.accessKeyId, each.secretAccessKey]);
  return {
    required: [...new Set([...keys, ...script.secrets])],
    optional: [...new Set(variables.map(({ sessionToken }) => sessionToken))],
  };
}

interface EdgeNotes {
  readonly workerdVersion: string;
  readonly remarks: readonly string[];
}

function notesText(
  script: EdgeScript,
  { workerdVersion, remarks, required, optional }: EdgeNotes & EdgeEnvironment,
): string {
  const { objects, address, statusAddress } = script;
  const hasBuckets = allBuckets(script).length > 0;
  const places = allBuckets(script).map(({ binding, place: { bucketName, endpoint, prefix } }) => {
    const begin = prefix === "" ? "" : `, keys begin with ${prefix}`;
    return `- \`env.${binding}\`: ${bucketName} at ${endpoint}${begin}`;
  });
  return [
    "# A script for workerd",
    "",
    "`ledge build` has written this folder. It needs workerd and nothing else: no Node, no npm.",
    "",
    "```sh",
    `cd THIS_FOLDER && ${startCommand(objects)}`,
    "```",
    "",
    `- workerd ${workerdVersion} is the version of the build. Use the same version, or a later one after a test.`,
    `- The script listens at ${address}. Another address: \`--socket-addr=http=0.0.0.0:8080\`.`,
    ...linesIf(
      statusAddress !== null,
      `- /healthz, /readyz and /metrics are at ${statusAddress}. Another address: \`--socket-addr=status=127.0.0.1:9000\`.`,
    ),
    ...linesIf(
      hasBuckets,
      `- \`${edgePaths.spool}/\` holds large content while it is sent. A runtime that is killed leaves files: empty ` +
        "the folder before a start. Each runtime needs its own: `--directory-path=spool=DIR`.",
    ),
    ...allBuckets(script).flatMap(({ keysFile, place }) =>
      keysFile === null
        ? []
        : [
            `- ${keysFile} has the keys of the remote "${place.remote}". Another folder: \`--directory-path=${keysFolder}=DIR\`.`,
          ],
    ),
    ...linesIf(
      objects.length > 0,
      "- OBJECTS_FOLDER holds the databases of the Durable Objects, and stays when a build is replaced. Two " +
        "runtimes would damage it: `flock` refuses the second. Another machine has other objects.",
    ),
    `- The log is on standard output, a line of JSON for each entry. ${logVariable}=requests logs each request to a service.`,
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
    ...linesIf(hasBuckets, "Buckets and KV namespaces:", "", ...places, ""),
  ].join("\n");
}

/** `flock` holds a lock on the folder of the objects as long as workerd runs. */
export function startCommand(objects: readonly ObjectClass[]): string {
  const serve = `workerd serve ${edgePaths.config}`;
  return objects.length === 0
    ? serve
    : `flock --nonblock --verbose --no-fork OBJECTS_FOLDER ${serve} --directory-path=${objectsFolder}=OBJECTS_FOLDER`;
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
  const { bundle, namespaces, statusAddress } = script;
  const hasBuckets = allBuckets(script).length > 0;
  const environment = edgeEnvironment(script);
  const files = new Map<string, string | Uint8Array>([
    [edgePaths.config, edgeConfigFile(script)],
    ...bundle.modules.map(({ name, content }) => [modulePath(name), content] as const),
    ...(statusAddress === null
      ? []
      : ([
          [edgePaths.main, mainModuleText(bundle.modules)],
          [edgePaths.status, workerdModule("edge-status")],
        ] as const)),
    ...(hasBuckets ? [[edgePaths.extension, workerdModule("store-remote-binding")] as const] : []),
    ...(namespaces.length > 0
      ? [[edgePaths.namespace, workerdModule("store-namespace")] as const]
      : []),
    [edgePaths.notes, notesText(script, { ...notes, ...environment })],
  ]);
  for (const path of files.keys()) requireInside(path);
  for (const stale of [edgePaths.modules, dirname(edgePaths.extension)]) {
    rmSync(join(folder, stale), { recursive: true, force: true });
  }
  // The folder keeps its content, which may be private.
  const spool = join(folder, edgePaths.spool);
  if (hasBuckets) {
    mkdirSync(spool, { recursive: true });
    chmodSync(spool, 0o700);
  }
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
