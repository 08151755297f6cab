/** `ledge build`: makes a folder from a project, which workerd serves without Node. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { linesIf } from "../base/format.ts";
import { workerdPath } from "../base/miniflare.ts";
import { packageOfModule } from "../base/package-version.ts";
import { isTable, type Table } from "../base/schema.ts";
import { UserError } from "../base/user-error.ts";
import { readDevVariables } from "../config/config-file.ts";
import { readConfig, type ProjectConfig, type ReadConfigOptions } from "../config/read-config.ts";
import { remotePlace, type NamespaceBucket, type ProjectRemote } from "../store/config/remotes.ts";
import { compatibilitySettings, isStoreFlag } from "../store/config/store-buckets.ts";
import { requireRemote } from "../store/node/remote-buckets.ts";
import type { BucketSettings } from "../store/core/operations.ts";
import { describeService } from "../store/remote/remote-gaps.ts";
import type { RemoteFeatures, RemoteGap } from "../store/remote/remote-options.ts";
import {
  requireOwnFolder,
  startCommand,
  writeEdgeFolder,
  type EdgeBucket,
  type EdgeScript,
  type ObjectClass,
} from "./edge-folder.ts";
import { ineffectiveKeys, refusedBindings, refusedKeys } from "./refused-bindings.ts";
import { bundleScript, type ScriptBundle, type UploadedBinding } from "./script-bundle.ts";

interface BuildOptions extends ReadConfigOptions {
  /** Relative to the working folder. Default: `dist-edge` beside the configuration file. */
  readonly outdir?: string;
  readonly ip?: string;
  readonly port?: number;
  /** On loopback; 0: none. */
  readonly statusPort?: number;
  /** Whether the build asks each S3 service what it honours. */
  readonly probe: boolean;
  /** Names of secrets that neither `.dev.vars` nor the configuration has. */
  readonly secrets?: readonly string[];
}

/** @throws UserError that lists everything that the build cannot have */
export async function buildProject(options: BuildOptions) {
  const { ip = "127.0.0.1", port = 8080, statusPort = 8081, probe } = options;
  // The files have no keys, so only the probe needs them.
  const config = readConfig({ ...options, keysOptional: !probe, namespaces: true });
  requireBuildable(config);
  const folder =
    options.outdir === undefined ? join(config.folder, "dist-edge") : resolve(options.outdir);
  requireOwnFolder(folder);
  const required = requiredSecrets(config);
  const uploaded = await bundleScript(config);
  // The upload has required secrets as bindings whose values the platform has.
  const bindings = uploaded.bindings.filter(({ name }) => !required.includes(name));
  const { namespaceBucket } = config;
  refuse(refusedBindings(bindings, namespaceBucket !== undefined));
  const compatibilityFlags = uploaded.compatibilityFlags.filter((flag) => !isStoreFlag(flag));
  const names = new Set(bindings.map(({ name }) => name));
  const secrets = [...localSecrets(config), ...required, ...(options.secrets ?? [])];
  const script: EdgeScript = {
    bundle: { ...uploaded, bindings, compatibilityFlags },
    buckets: await edgeBuckets(config, uploaded, probe),
    namespaces:
      namespaceBucket === undefined
        ? []
        : await edgeNamespaces(namespaceBucket, uploaded.bindings, probe),
    secrets: [...new Set(secrets)].filter((name) => !names.has(name)),
    objects: objectClasses(config.table["migrations"]),
    authorities: namedAuthorities(config),
    address: `${ip}:${port}`,
    statusAddress: statusPort === 0 ? null : `127.0.0.1:${statusPort}`,
  };
  const program = workerdPath();
  const { version: workerdVersion = "" } = packageOfModule(program) ?? {};
  const remarks = [
    ...config.warnings,
    ...ineffectiveKeys(config.table),
    ...linesIf(
      script.objects.length > 0,
      "Durable Objects are in a folder of the machine, which one runtime at a time may use: run a script " +
        "with Durable Objects in one runtime.",
    ),
    ...linesIf(
      script.authorities.length > 0,
      `The runtimes trust the authorities of ${process.env["NODE_EXTRA_CA_CERTS"]} (NODE_EXTRA_CA_CERTS), and no others.`,
    ),
    ...linesIf(
      !probe,
      "No S3 service was asked what it honours (--no-probe): each runtime asks before its first write.",
    ),
  ];
  const asked = probe ? [...script.buckets, ...script.namespaces] : [];
  return {
    folder,
    services: [...new Set(asked.flatMap((each) => describeService(each.place, each.features)))],
    ...writeEdgeFolder(folder, script, { workerdVersion, remarks }),
    address: script.address,
    statusAddress: script.statusAddress,
    command: startCommand(script.objects),
    remarks,
    workerdVersion,
    workerdPath: program,
  };
}

function requireBuildable({ path, folder, table, buckets, dns }: ProjectConfig): void {
  if (path === null) {
    throw new UserError(
      `There is no configuration file in ${folder} or above it: add a wrangler.jsonc.`,
    );
  }
  if (table["compatibility_date"] === undefined) {
    throw new UserError(
      "workerd needs compatibility_date, and the configuration has none. " +
        'Add "compatibility_date": "2026-08-01".',
    );
  }
  refuse([
    ...buckets
      .filter(({ remote }) => remote === undefined)
      .map(
        ({ binding, bucketName }) =>
          `The bucket "${bucketName}" (env.${binding}) is in the state folder of this machine, which workerd ` +
          'alone does not serve: add remote = "NAME" to it, and [remotes.NAME] with an endpoint.',
      ),
    ...linesIf(
      dns.binding !== undefined,
      `The binding "${dns.binding}" is the record API of DNS, which workerd alone does not have.`,
    ),
    ...refusedKeys(table),
  ]);
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
    const compatibility = compatibilitySettings(compatibilityDate, compatibilityFlags);
    made.push({
      binding: bucket.binding,
      ...(await edgePlace(remote, bucket.bucketName, probe)),
      settings: {
        storageClass: bucket.storageClass ?? "Standard",
        allowUnsizedStreams: false,
        ...compatibility,
        trailingDelimiter: bucket.listTrailingDelimiter ?? compatibility.trailingDelimiter,
      },
    });
  }
  const folders = new Set(
    made.flatMap(({ keysFile }) => (keysFile === null ? [] : [dirname(keysFile)])),
  );
  if (folders.size > 1) {
    throw new UserError(
      `The files of keys are in ${[...folders].join(" and ")}, and a build has one folder of keys: ` +
        "put the files of keys_file into one folder.",
    );
  }
  return made;
}

/** The keys of a namespace begin with its id, so that one bucket has all namespaces. */
async function edgeNamespaces(
  { remote, bucketName }: NamespaceBucket,
  bindings: readonly UploadedBinding[],
  probe: boolean,
): Promise<EdgeBucket[]> {
  const made: EdgeBucket[] = [];
  for (const { name, type, namespace_id: id } of bindings) {
    if (type !== "kv_namespace") continue;
    const prefix = `${remote.prefix}kv/${encodeURIComponent(id as string)}/`;
    made.push({
      binding: name,
      ...(await edgePlace({ ...remote, prefix }, bucketName, probe)),
      settings: namespaceSettings,
    });
  }
  return made;
}

const namespaceSettings: BucketSettings = {
  storageClass: "Standard",
  honorInclude: true,
  trailingDelimiter: false,
  rejectBadArguments: true,
  allowUnsizedStreams: true,
};

async function edgePlace(
  remote: ProjectRemote,
  bucketName: string,
  probe: boolean,
): Promise<Pick<EdgeBucket, "place" | "keysFile" | "features" | "accept">> {
  const { credentials, accept } = remote;
  const place = remotePlace(remote, bucketName);
  const features = probe
    ? await requireRemote({ ...place, credentials, accept })
    : assumedFeatures(accept);
  return { place, keysFile: remote.keysFile ?? null, features, accept };
}

/**
 * The authorities of `NODE_EXTRA_CA_CERTS`, which the probe trusts too. Where they are named, the runtimes trust no
 * others: one authority of hundreds could otherwise vouch for another machine as the cluster.
 */
function namedAuthorities({ buckets, namespaceBucket }: ProjectConfig): string[] {
  const path = process.env["NODE_EXTRA_CA_CERTS"];
  const isHttps = [...buckets, namespaceBucket].some((each) =>
    each?.remote?.endpoint.startsWith("https:"),
  );
  if (!isHttps || path === undefined || !existsSync(path)) return [];
  const pattern = /-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----\n?/g;
  return readFileSync(path, "utf8").match(pattern) ?? [];
}

function localSecrets({ folder, environment }: ProjectConfig): string[] {
  const names = Object.keys(readDevVariables(folder, environment));
  return names.filter((name) => !name.startsWith("LEDGE_"));
}

function requiredSecrets({ table: { secrets } }: ProjectConfig): string[] {
  const required = isTable(secrets) ? secrets["required"] : [];
  return Array.isArray(required) ? required.map(String) : [];
}

/**
 * The features of AWS, without the gaps that the configuration accepts. The runtime finds that no service was asked,
 * and asks.
 */
export function assumedFeatures(accept: readonly RemoteGap[]): RemoteFeatures {
  const has = (gap: RemoteGap): boolean => !accept.includes(gap);
  return {
    putIfMatch: has("conditional-put") ? "quoted" : null,
    putIfNoneMatch: has("conditional-put"),
    conditionalComplete: has("conditional-complete"),
    conditionalDelete: has("conditional-delete"),
    unconditionalPut: null,
    unconditionalDelete: false,
    // A bucket that encrypts has other tags.
    etagIsMd5: false,
    service: { server: "", versioning: "unknown" },
    seen: Object.fromEntries(accept.map((gap) => [gap, "the configuration accepts it"])),
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
