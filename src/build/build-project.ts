/** `ledge build`: makes a folder from a project, which workerd serves without Node. */
import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { workerdPath } from "../base/miniflare.ts";
import { packageOfModule } from "../base/package-version.ts";
import { workerdModule } from "../base/runtime.ts";
import { isTable, type Table } from "../base/schema.ts";
import { UserError } from "../base/user-error.ts";
import { readDevVariables } from "../config/config-file.ts";
import { readConfig, type BucketBinding, type ProjectConfig } from "../config/read-config.ts";
import { remotePlace, type ProjectRemote } from "../store/config/remotes.ts";
import { compatibilitySettings, isStoreFlag } from "../store/config/store-buckets.ts";
import { requireRemote } from "../store/node/remote-buckets.ts";
import {
  remoteVariables,
  type RemoteFeatures,
  type RemoteGap,
  type RemotePlace,
} from "../store/remote/remote-options.ts";
import {
  edgeConfigFile,
  edgeEnvironment,
  edgeNotes,
  edgePaths,
  modulePath,
  requireOwnFolder,
  writeEdgeFolder,
  type EdgeBucket,
  type EdgeFile,
  type EdgeScript,
  type ObjectClass,
} from "./edge-folder.ts";
import { ineffectiveKeys, refusedBindings, refusedKeys } from "./refused-bindings.ts";
import { bundleScript, type ScriptBundle, type UploadedBinding } from "./script-bundle.ts";

export interface BuildOptions {
  readonly configPath?: string;
  readonly environment?: string;
  /** Relative to the working folder. Default: `dist-edge` beside the configuration file. */
  readonly outdir?: string;
  readonly ip?: string;
  readonly port?: number;
  /** Whether the build asks each S3 service what it honours. */
  readonly probe?: boolean;
  /** Names of secrets that neither `.dev.vars` nor the configuration has. */
  readonly secrets?: readonly string[];
}

export interface Build {
  readonly folder: string;
  /** Relative to the folder. */
  readonly files: readonly string[];
  /** The variables that the environment of the runtime needs, and those that it may have. */
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly address: string;
  readonly workerdVersion: string;
  /** The program of this version, on this machine. */
  readonly workerdPath: string;
  readonly remarks: readonly string[];
}

const outdirDefault = "dist-edge";
const ipDefault = "127.0.0.1";
const portDefault = 8080;

/** @throws UserError that lists everything that the build cannot have */
export async function buildProject(options: BuildOptions = {}): Promise<Build> {
  const { ip = ipDefault, port = portDefault, probe = true } = options;
  // The files have no keys, so only the probe needs them.
  const config = readConfig({ ...options, keysOptional: !probe });
  requireBuildable(config);
  const folder =
    options.outdir === undefined ? join(config.folder, outdirDefault) : resolve(options.outdir);
  requireOwnFolder(folder);
  const bundle = withoutSecrets(await bundleScript(config), requiredSecrets(config));
  refuse(refusedBindings(bundle.bindings));
  const script: EdgeScript = {
    bundle: {
      ...bundle,
      compatibilityFlags: bundle.compatibilityFlags.filter((flag) => !isStoreFlag(flag)),
    },
    buckets: await edgeBuckets(config, bundle, probe),
    secrets: secretNames(config, bundle, options.secrets),
    objects: objectClasses(config.table["migrations"]),
    authorities: extraAuthorities(),
    address: `${ip}:${port}`,
  };
  return writeBuild(folder, script, remarksOn(config, script, probe));
}

function requireBuildable(config: ProjectConfig): void {
  if (config.path === null) {
    throw new UserError(
      `There is no configuration file in ${config.folder} or above it: add a wrangler.jsonc.`,
    );
  }
  if (config.table["compatibility_date"] === undefined) {
    throw new UserError(
      "workerd needs compatibility_date, and the configuration has none. " +
        'Add "compatibility_date": "2026-08-01".',
    );
  }
  const { binding } = config.dns;
  refuse([
    ...config.buckets.filter(({ remote }) => remote === undefined).map(localBucket),
    ...(binding === undefined
      ? []
      : [`The binding "${binding}" is the record API of DNS, which workerd alone does not have.`]),
    ...refusedKeys(config.table),
  ]);
}

function localBucket({ binding, bucketName }: BucketBinding): string {
  return (
    `The bucket "${bucketName}" (env.${binding}) is in the state folder of this machine, which workerd ` +
    'alone does not serve: add remote = "NAME" to it, and [remotes.NAME] with an endpoint.'
  );
}

function refuse(sentences: readonly string[]): void {
  if (sentences.length > 0) throw new UserError(sentences.join("\n"));
}

/** Services are asked once for each bucket: two buckets of a service can have different rights. */
async function edgeBuckets(
  { buckets }: ProjectConfig,
  { compatibilityDate, compatibilityFlags }: ScriptBundle,
  probe: boolean,
): Promise<EdgeBucket[]> {
  const made: EdgeBucket[] = [];
  for (const bucket of buckets) {
    const remote = bucket.remote as ProjectRemote;
    const place = remotePlace(remote, bucket.bucketName);
    const compatibility = compatibilitySettings(compatibilityDate, compatibilityFlags);
    made.push({
      binding: bucket.binding,
      place,
      features: await remoteFeatures(remote, place, probe),
      settings: {
        storageClass: bucket.storageClass ?? "Standard",
        allowUnsizedStreams: false,
        ...compatibility,
        trailingDelimiter: bucket.listTrailingDelimiter ?? compatibility.trailingDelimiter,
      },
      variables: remoteVariables(remote.name),
    });
  }
  return made;
}

/** The certificates that Node trusts too, so that the probe and the runtime trust the same. */
function extraAuthorities(): string[] {
  const path = process.env["NODE_EXTRA_CA_CERTS"];
  if (path === undefined || !existsSync(path)) return [];
  const pattern = /-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----\n?/g;
  return readFileSync(path, "utf8").match(pattern) ?? [];
}

/** The names of secrets: of `.dev.vars`, of `secrets.required`, and of the command line. */
function secretNames(
  config: ProjectConfig,
  { bindings }: ScriptBundle,
  given: readonly string[] = [],
): string[] {
  const { folder, environment } = config;
  const local = Object.keys(readDevVariables(folder, environment));
  const names = [
    ...local.filter((name) => !name.startsWith("LEDGE_")),
    ...requiredSecrets(config),
    ...given,
  ];
  const variables = new Set(bindings.map(({ name }) => name));
  return [...new Set(names)].filter((name) => !variables.has(name));
}

function requiredSecrets({ table: { secrets } }: ProjectConfig): string[] {
  const required = isTable(secrets) ? secrets["required"] : [];
  return Array.isArray(required) ? required.map(String) : [];
}

/** The upload has required secrets as bindings whose values the platform has. */
function withoutSecrets(bundle: ScriptBundle, secrets: readonly string[]): ScriptBundle {
  const isOther = ({ name }: UploadedBinding): boolean => !secrets.includes(name);
  return { ...bundle, bindings: bundle.bindings.filter(isOther) };
}

function remarksOn({ table }: ProjectConfig, { objects }: EdgeScript, probe: boolean): string[] {
  return [
    ...ineffectiveKeys(table),
    ...(objects.length > 0
      ? [
          "Durable Objects are in a folder of the runtime: each runtime has objects of its own, so run " +
            "a script with Durable Objects in one runtime.",
        ]
      : []),
    ...(probe
      ? []
      : [
          "No S3 service was asked what it honours (--no-probe): the build assumes conditional writes " +
            "as AWS has them, without what accept names.",
        ]),
  ];
}

function writeBuild(folder: string, script: EdgeScript, remarks: readonly string[]): Build {
  const { bundle, buckets, objects, address } = script;
  const program = workerdPath();
  const { version: workerdVersion = "" } = packageOfModule(program) ?? {};
  const hasBuckets = buckets.length > 0;
  const environment = edgeEnvironment(script);
  const notes = edgeNotes(script, { workerdVersion, remarks, ...environment });
  const files: EdgeFile[] = [
    { path: edgePaths.config, content: edgeConfigFile(script) },
    ...bundle.modules.map(({ name, content }) => ({ path: modulePath(name), content })),
    ...(hasBuckets
      ? [{ path: edgePaths.extension, content: workerdModule("store-remote-binding") }]
      : []),
    { path: edgePaths.notes, content: notes },
  ];
  writeEdgeFolder(folder, files, [
    ...(hasBuckets ? [edgePaths.spool] : []),
    ...(objects.length > 0 ? [edgePaths.objects] : []),
  ]);
  return {
    folder,
    files: files.map(({ path }) => path),
    ...environment,
    address,
    remarks,
    workerdVersion,
    workerdPath: program,
  };
}

/** The folder in a command for people: relative where that is shorter. */
export function shownFolder(folder: string): string {
  const short = relative(process.cwd(), folder);
  return short === "" ? "." : isAbsolute(short) || short.startsWith("..") ? folder : short;
}

/**
 * What the S3 service of a bucket honours: as the service shows, or as the build assumes.
 *
 * @throws UserError when the service cannot be used, or lacks what a bucket needs
 */
async function remoteFeatures(
  { credentials, accept }: ProjectRemote,
  place: RemotePlace,
  probe: boolean,
): Promise<RemoteFeatures> {
  return probe ? requireRemote({ ...place, credentials, accept }) : assumedFeatures(accept);
}

/** The features of AWS, without the gaps that the configuration accepts. */
export function assumedFeatures(accept: readonly RemoteGap[]): RemoteFeatures {
  const has = (gap: RemoteGap): boolean => !accept.includes(gap);
  return {
    putIfMatch: has("conditional-put") ? "quoted" : null,
    putIfNoneMatch: has("conditional-put"),
    conditionalComplete: has("conditional-complete"),
    conditionalDelete: has("conditional-delete"),
  };
}

/**
 * The Durable Objects of a script, from the migrations of its configuration.
 *
 * @param migrations in the order of the file
 */
export function objectClasses(migrations: unknown): ObjectClass[] {
  const classes = new Map<string, ObjectClass>();
  const add = (names: unknown, hasSql: boolean): void => {
    for (const className of textList(names)) {
      classes.set(className, { className, uniqueKey: className, hasSql });
    }
  };
  for (const migration of tableList(migrations)) {
    add(migration["new_classes"], false);
    add(migration["new_sqlite_classes"], true);
    for (const { from, to } of tableList(migration["renamed_classes"])) {
      const renamed = classes.get(from as string);
      if (renamed === undefined) continue;
      classes.delete(from as string);
      classes.set(to as string, { ...renamed, className: to as string });
    }
    for (const className of textList(migration["deleted_classes"])) classes.delete(className);
  }
  return [...classes.values()];
}

function tableList(value: unknown): Table[] {
  return Array.isArray(value) ? value.filter(isTable) : [];
}

function textList(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
