/**
 * The options that the pool gets: those of the user, with the bindings of the configuration file.
 *
 * The pool asks for its options before it starts a runtime, so a configuration file that is read again
 * (watch mode) applies to the next runtime.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { pluginPath } from "../../base/runtime.ts";
import type { Table } from "../../base/schema.ts";
import { testedVersions } from "../../base/tested-versions.ts";
import { UserError } from "../../base/user-error.ts";
import {
  newsOf,
  placeOf,
  readConfig,
  withPlace,
  type ProjectConfig,
} from "../../config/read-config.ts";
import {
  toWranglerTable,
  unsafeBindings,
  withOriginalName,
  writeTemporaryConfig,
  type TemporaryConfig,
} from "../../config/wrangler-config.ts";
import { projectEdge } from "../../config/project-edge.ts";
import { hasRuntimeSockets } from "../../state/sockets.ts";
import { remotePlace } from "../../store/config/remotes.ts";
import { hasRpc, type BucketBinding } from "../../store/config/store-buckets.ts";
import {
  controlBinding,
  dnsBinding,
  edgeBinding,
  stateBinding,
  type TestEdge,
} from "../controls.ts";
import { stateKinds, type StateKind } from "../isolation/state-files.ts";
import {
  checkOptions,
  isolatedKinds,
  type LedgeOptions,
  type LedgeOptionsFunction,
  type PoolOptions,
} from "./options.ts";
import type { EndActions, PoolModule } from "./pool.ts";

type PoolContext = Parameters<LedgeOptionsFunction>[0];

interface Project {
  readonly root: string;
  readonly pool: PoolModule;
  readonly atEnd: EndActions;
}

/** The options of a project. */
export class ProjectOptions {
  readonly #given: LedgeOptions | LedgeOptionsFunction;
  readonly #project: Project;
  #config: ProjectConfig | undefined;
  #newConfigPath: string | null = null;
  #file: TemporaryConfig | undefined;
  #resolved: Promise<PoolOptions> | undefined;
  /** Grows when the configuration file is read again: an older runtime has other bindings. */
  version = 0;

  /** @throws UserError with the mistakes of the configuration file */
  constructor(given: LedgeOptions | LedgeOptionsFunction, project: Project) {
    this.#given = given;
    this.#project = project;
    this.#readNow();
  }

  /** What the pool asks before it starts a runtime. */
  readonly forPool = (context: PoolContext): Promise<PoolOptions> =>
    (this.#resolved ??= this.#resolve(context));

  /** @throws UserError with the mistakes of the configuration file; so does then every start */
  readAgain(): void {
    this.version += 1;
    this.#resolved = undefined;
    this.#readNow();
  }

  /** The folder of the configuration file, once it is known. */
  get folder(): string | undefined {
    return this.#config?.folder;
  }

  /** Whether the bindings depend on a file: the configuration file, or secrets beside it. */
  dependsOn(path: string): boolean {
    const { path: configPath, folder } = this.#config ?? {};
    if (path === configPath || path === this.#newConfigPath) return true;
    return dirname(path) === folder && /^\.(?:dev\.vars|env)(?:$|\.)/.test(basename(path));
  }

  /** While the pool starts a runtime, messages name the file of the user, not the temporary copy. */
  readonly start = async (start: () => Promise<void>): Promise<void> => {
    const read = this.#file?.path ?? this.#newConfigPath;
    if (read === null) return start();
    try {
      await withOriginalName(read, this.#newConfigPath ?? this.#config?.path, start);
    } catch (error) {
      if (error instanceof Error && this.#config !== undefined) {
        error.message = withPlace(this.#config, error.message);
      }
      throw error;
    }
  };

  /** Options that are a function need values that the pool has later. */
  #readNow(): void {
    const given = this.#given;
    if (typeof given !== "function") this.#resolved = Promise.resolve(this.#read(given));
  }

  async #resolve(context: PoolContext): Promise<PoolOptions> {
    const given = this.#given;
    return this.#read(typeof given === "function" ? await given(context) : given);
  }

  #read(options: LedgeOptions): PoolOptions {
    const { root, pool, atEnd } = this.#project;
    if (typeof this.#given === "function") checkOptions(options);
    const {
      configPath,
      environment,
      adopt,
      isolate,
      memory: _,
      faults: __,
      ...poolOptions
    } = options;
    this.#newConfigPath = newConfigPath(options, pool, root);
    const config = readConfig({
      folder: root,
      configPath:
        this.#newConfigPath === null ? (configPath ?? poolOptions.wrangler?.configPath) : null,
      environment: environment ?? poolOptions.wrangler?.environment,
      adopt,
    });
    for (const warning of newsOf(config)) console.warn(warning);
    if (
      config.path === null &&
      this.#newConfigPath === null &&
      poolOptions.main === undefined &&
      poolOptions.miniflare === undefined
    ) {
      throw new UserError(
        `There is no wrangler.toml, wrangler.json or wrangler.jsonc in ${root} or above it. ` +
          "Add one, name one with configPath, or give the pool's options main and miniflare.",
      );
    }
    this.#config = config;
    warnOfMissingScript(config, options);
    const kinds = isolatedKinds(isolate);
    return withBindings(
      { ...config, buckets: withRunPrefix(config.buckets, atEnd) },
      poolOptions,
      config.path === null ? undefined : this.#writeFile(config),
      stateKinds.filter((kind) => kinds.includes(kind)),
    );
  }

  /**
   * Writes the configuration file for the pool, which is removed when vitest or the process ends.
   *
   * @returns the path of the file
   */
  #writeFile(config: ProjectConfig): string {
    const table = toWranglerTable(config, []);
    if (this.#file === undefined || dirname(this.#file.path) !== config.folder) {
      const file = writeTemporaryConfig(config.folder, table);
      temporaryFiles.add(file);
      this.#project.atEnd.push(() => {
        file.remove();
        temporaryFiles.delete(file);
      });
      this.#file = file;
    } else {
      this.#file.write(table);
    }
    return this.#file.path;
  }
}

/**
 * The path of `cloudflare.config.ts`, if the pool reads that file. Its buckets are `unsafe` bindings that
 * name the plugin, so the pool needs nothing of Ledge to read it.
 */
function newConfigPath(options: LedgeOptions, pool: PoolModule, root: string): string | null {
  const { newConfig = false } = options.experimental ?? {};
  if (newConfig === false) return null;
  const path = resolve(
    root,
    (newConfig !== true && newConfig.configPath) || "cloudflare.config.ts",
  );
  const other = (["configPath", "environment", "adopt", "wrangler"] as const).find(
    (name) => options[name] !== undefined,
  );
  if (other !== undefined) {
    throw new UserError(
      `The option ${other} of ledge() is about wrangler's configuration file, and ` +
        `experimental.newConfig replaces that file by ${path}. Leave one of the two options out.`,
    );
  }
  if (!pool.hasNewConfig()) {
    throw new UserError(
      `${pool.label} does not know experimental.newConfig. Install a version that reads ` +
        `cloudflare.config.ts: npm install --save-dev @cloudflare/vitest-plugin@${testedVersions["@cloudflare/vitest-plugin"][1]}`,
    );
  }
  return path;
}

/** Tests that do not reach the script run without it. */
function warnOfMissingScript(config: ProjectConfig, options: LedgeOptions): void {
  const { main } = config.table;
  if (config.path === null || options.main !== undefined || typeof main !== "string") return;
  const path = resolve(config.folder, main);
  if (existsSync(path)) return;
  console.warn(
    `${placeOf(config, ["main"])}: main is "${main}", and ${path} does not exist. Tests cannot reach the script.`,
  );
}

const temporaryFiles = new Set<TemporaryConfig>();
process.once("exit", () => temporaryFiles.forEach((file) => file.remove()));

function unsafeBinding(name: string, type: string, plugin: string, options: object) {
  return { name, type, plugin: { package: pluginPath, name: plugin }, options };
}

/** Adds the bindings of the configuration file, and the controls of the store and the DNS. */
function withBindings(
  config: ProjectConfig,
  { miniflare = {}, ...options }: PoolOptions,
  configPath: string | undefined,
  kinds: readonly StateKind[],
): PoolOptions {
  const bindings = [
    ...unsafeBindings(config).map(({ dev, ...binding }) => ({ ...binding, ...dev })),
    unsafeBinding(controlBinding, "store_control", "store", {
      project_folder: resolve(config.folder),
    }),
    unsafeBinding(dnsBinding, "dns", "dns", config.dns.table),
    ...(hasRuntimeSockets && kinds.length > 0
      ? [unsafeBinding(stateBinding, "state_files", "isolation", { kinds })]
      : []),
  ];
  const given: readonly unknown[] = miniflare.unsafeBindings ?? [];
  const { environment } = config;
  return {
    ...options,
    ...(configPath !== undefined && {
      wrangler: {
        ...options.wrangler,
        configPath,
        ...(environment !== undefined && { environment }),
      },
    }),
    miniflare: {
      ...miniflare,
      ...rpcFlag(config, miniflare),
      bindings: {
        ...miniflare.bindings,
        [edgeBinding]: JSON.stringify(testEdge(config, miniflare)),
      },
      unsafeBindings: [...given, ...bindings] as typeof miniflare.unsafeBindings,
    },
  };
}

/** What names lead to: the routes and buckets of the configuration file, and the routes of the runtime's other workers. */
function testEdge(config: ProjectConfig, miniflare: PoolOptions["miniflare"] & object): TestEdge {
  const { table } = config;
  const { routes, buckets, settings } = projectEdge(config);
  const script = typeof table["name"] === "string" ? table["name"] : "";
  const others = (miniflare.workers ?? []).flatMap(({ name = "", routes: patterns = [] }) =>
    patterns.map((pattern) => ({ script: name, pattern, isCustomDomain: false })),
  );
  const ofFile = ((table["services"] ?? []) as Table[])
    .filter(({ entrypoint }) => entrypoint === undefined)
    .map(({ service, binding }) => [service, binding]);
  const ofOptions = Object.entries(miniflare.serviceBindings ?? {})
    .filter(([, service]) => typeof service === "string")
    .map(([binding, service]) => [service, binding]);
  const flags = [table["compatibility_flags"] ?? [], miniflare.compatibilityFlags ?? []].flat();
  return {
    table: { routes: [...routes, ...others], buckets, settings },
    cors: config.s3.cors,
    script,
    services: Object.fromEntries([...ofFile, ...ofOptions]) as TestEdge["services"],
    isPublicFetch: flags.includes("global_fetch_strictly_public"),
  };
}

/** Tests call the controls by RPC, which scripts with an old compatibility date do not have. */
function rpcFlag(
  { table }: ProjectConfig,
  miniflare: Record<string, unknown>,
): { compatibilityFlags?: string[] } {
  const date = (miniflare["compatibilityDate"] ?? table["compatibility_date"]) as
    | string
    | undefined;
  const own = (miniflare["compatibilityFlags"] ?? []) as string[];
  const flags = [...own, ...((table["compatibility_flags"] ?? []) as string[])];
  if (date === undefined || hasRpc(date, flags)) return {};
  return { compatibilityFlags: [...own, "rpc"] };
}

/**
 * Remote buckets in tests. The undo of writes is a matter of local buckets, so the tests of a run share what
 * they write. But each run has a prefix of its own in the service's bucket, behind the bucket's own prefix.
 * The prefix is removed at the end; a failure is a warning, because the tests have their results.
 */
function withRunPrefix(buckets: readonly BucketBinding[], atEnd: EndActions): BucketBinding[] {
  const name = `test-${randomBytes(6).toString("hex")}/`;
  /** Two bindings can name one bucket. */
  const used = new Set<string>();
  return buckets.map((bucket) => {
    if (bucket.remote === undefined) return bucket;
    const remote = { ...bucket.remote, prefix: bucket.remote.prefix + name };
    const place = remotePlace(remote, bucket.previewBucketName ?? bucket.bucketName);
    const text = `"${place.prefix}" in the bucket "${place.bucketName}" of the remote "${place.remote}" (${place.endpoint})`;
    if (!used.has(text)) {
      used.add(text);
      // Said at the start: a run that is killed leaves its objects.
      console.log(`Tests write to ${text}, and remove it at the end.`);
      atEnd.push(async () => {
        const { removePrefix } = await import("../../store/node/remote-buckets.ts");
        await removePrefix(place, remote.credentials).catch((error: Error) => {
          console.warn(`Cannot remove ${text}: ${error.message} Remove it yourself.`);
        });
      });
    }
    return { ...bucket, remote };
  });
}
