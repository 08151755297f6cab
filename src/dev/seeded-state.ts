/**
 * The state that a seed makes, as a saved state of the project.
 *
 * The seed goes through the bindings of a runtime and the record API, in a folder of its own: a seed with a mistake
 * changes nothing. What it makes is saved under a name with a hash of all that it depends on, so the next use finds it,
 * and an older one is deleted.
 */
import { createHash } from "node:crypto";
import { createReadStream, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { mapConcurrent } from "../base/concurrency.ts";
import { isTable, type Table } from "../base/schema.ts";
import { UserError } from "../base/user-error.ts";
import { shownPath } from "../config/config-file.ts";
import type { ProjectConfig } from "../config/read-config.ts";
import { ApiClient, ApiError } from "../dns/client/api-client.ts";
import { connectionUrl, connectToZones } from "../dns/server/zones-connection.ts";
import { SavedStates } from "../saved/saved-states.ts";
import { boundResources, type BoundResource } from "../seed/bound-resources.ts";
import { listSeedFiles, readSeed, type Seed, type SeedZone } from "../seed/seed-folder.ts";
import { migrationNames, type SqlFile } from "../seed/sql-files.ts";
import { persistPath, pluginFolder, savedFolder } from "../state/folder.ts";
import { FileLock } from "../state/lock.ts";
import { OwnFolder } from "../state/runs.ts";
import { inlineBytesMax } from "../store/core/limits.ts";
import { openProxy } from "./platform-proxy.ts";

export interface SeedOptions {
  /** Of the script that has the address, then of the scripts beside it. */
  readonly configs: readonly ProjectConfig[];
  /** Has the saved states. */
  readonly stateFolder: string;
  /** The folder of the seed. Default: that of the configuration. */
  readonly folder?: string;
}

/** @returns a function that makes the state of the seed as it is now; its result is `null` without a seed */
export function projectSeed({
  configs,
  stateFolder,
  folder,
}: SeedOptions): () => Promise<string | null> {
  return async () => {
    const found = folder ?? configs[0]?.state.seed ?? null;
    return found === null ? null : seededState(found, configs, stateFolder);
  };
}

/** @returns the name of the saved state */
async function seededState(
  folder: string,
  configs: readonly ProjectConfig[],
  stateFolder: string,
): Promise<string> {
  const resources = boundResources(configs);
  const name = `${namePrefix}${seedHash(folder, resources, configs)}`;
  const saved = savedFolder(stateFolder);
  // Several dev servers may start at the same time.
  const lock = await FileLock.take(join(saved, ".seed.lock"));
  try {
    const states = new SavedStates(stateFolder);
    const seeded = states
      .list()
      .filter((each) => each.isAutomatic && each.name.startsWith(namePrefix));
    if (seeded.some((each) => each.name === name)) return name;
    const seed = readSeed(folder, resources);
    const building = new OwnFolder(saved, ".seed-");
    try {
      // None may use the folder when it is removed.
      const outcomes = await Promise.allSettled([
        fillAll(seed, configs, building.path),
        fillZones(seed.zones, configs[0] as ProjectConfig, building.path),
      ]);
      const failure = outcomes.find((outcome) => outcome.status === "rejected");
      if (failure !== undefined) throw failure.reason;
      await states.save(name, { isAutomatic: true, from: building.path });
    } finally {
      building.remove();
    }
    for (const old of seeded) await states.delete(old.name);
    return name;
  } finally {
    lock.release();
  }
}

const namePrefix = "seed-";

/** A hash of all that the state of a seed depends on. */
function seedHash(
  folder: string,
  resources: readonly BoundResource[],
  configs: readonly ProjectConfig[],
): string {
  const bound = resources.map(({ kind, binding, entry }) => [kind, binding, entry]);
  const buckets = configs.map((config) => config.buckets);
  const hash = createHash("sha256");
  hash.update(JSON.stringify([bound, buckets, configs[0]?.dns.variables]));
  const files = listSeedFiles(folder).map((name) => ({ name, path: join(folder, name) }));
  for (const { name, path } of [...files, ...resources.flatMap(migrationNames)]) {
    const content = readFileSync(path);
    hash.update(JSON.stringify([name, content.length])).update(content);
    // A time to live begins when the state is made.
    const isTimed = name.startsWith("kv/") && /"expiration(?:Ttl|_ttl)"/.test(content.toString());
    if (isTimed) hash.update(String(Date.now()));
  }
  return hash.digest("hex").slice(0, 16);
}

const callsAtOnce = 16;
/** D1 takes 100 KB of SQL in a call. */
const sqlCharactersMax = 50_000;

/** What a binding in Node has of a bucket, a namespace or a database. */
interface Binding {
  put(key: string, value: unknown, options: object): Promise<unknown>;
  prepare(sql: string): object;
  batch(statements: readonly object[]): Promise<unknown>;
}

/** One script after the other: two runtimes may not have a database open at the same time. */
async function fillAll(seed: Seed, configs: readonly ProjectConfig[], state: string) {
  for (const config of configs) await fillBindings(seed, config, state);
}

/** Fills the resources that the bindings of one script name. */
async function fillBindings(seed: Seed, config: ProjectConfig, state: string): Promise<void> {
  const isOwn = ({ target }: { readonly target: BoundResource }) => target.config === config;
  const puts = seed.puts.filter(isOwn);
  const sql = seed.sql.filter(isOwn);
  const used = new Set([...puts, ...sql].map(({ target }) => target.binding));
  if (used.size === 0) return;
  const { env, dispose } = await openProxy<Record<string, Binding>>(onlyBindings(config, used), {
    persist: { path: persistPath(state) },
    remoteBindings: false,
    envFiles: [],
  });
  const served = new Set(config.buckets.map(({ binding }) => binding));
  try {
    for (const file of sql) await runFile(env[file.target.binding] as Binding, file);
    await mapConcurrent(puts, callsAtOnce, async ({ target, path, key, value, options }) => {
      const place = shownPath(path) + (value === null ? "" : `: ${JSON.stringify(key)}`);
      const content = value ?? readContent(path, served.has(target.binding));
      await (env[target.binding] as Binding).put(key, content, options).catch(refuse(place));
    });
  } finally {
    await dispose();
  }
}

/** The simulator takes no stream without a length. */
function readContent(path: string, mayStream: boolean) {
  const isStream = mayStream && statSync(path).size > inlineBytesMax;
  return isStream ? Readable.toWeb(createReadStream(path)) : readFileSync(path);
}

function refuse(place: string): (error: Error) => never {
  return (error) => {
    const reason = error.message.replaceAll(/^D1_ERROR: |: SQLITE_\w+$/g, "");
    throw new UserError(`${place}: ${reason}`, { cause: error });
  };
}

/** The configuration of a proxy that has these bindings and no others. */
function onlyBindings(config: ProjectConfig, used: ReadonlySet<unknown>): ProjectConfig {
  const { name, compatibility_date, compatibility_flags } = config.table;
  const lists = ["kv_namespaces", "d1_databases", "r2_buckets"].map((key) => {
    const list: unknown = config.table[key];
    const entries = (Array.isArray(list) ? list : []).filter(isTable);
    return [key, entries.filter(({ binding }) => used.has(binding))] as const;
  });
  const table = { name, compatibility_date, compatibility_flags, ...Object.fromEntries(lists) };
  const buckets = config.buckets.filter(({ binding }) => used.has(binding));
  const dns = { ...config.dns, binding: undefined };
  return { ...config, environment: undefined, source: table, table, buckets, dns };
}

async function runFile(database: Binding, { path, statements }: SqlFile): Promise<void> {
  const calls: string[] = [];
  for (const { text } of statements) {
    // A statement may end with a comment.
    const joined = calls.length === 0 ? text : `${calls.at(-1)}\n;\n${text}`;
    if (calls.length > 0 && joined.length <= sqlCharactersMax) calls[calls.length - 1] = joined;
    else calls.push(text);
  }
  if (calls.length === 0) return;
  const run = (texts: readonly string[]) =>
    database.batch(texts.map((text) => database.prepare(text)));
  await run(calls).catch(async (error: Error) => {
    // The transaction is undone. The database does not say which of its statements has failed.
    for (const { text, line } of statements) {
      await run([text]).catch(refuse(`${shownPath(path)}:${line}`));
    }
    refuse(shownPath(path))(error);
  });
}

async function fillZones(
  zones: readonly SeedZone[],
  { dns: { variables } }: ProjectConfig,
  state: string,
): Promise<void> {
  if (zones.length === 0) return;
  const { faults: _, ...table } = JSON.parse(variables.DNS_CONFIG ?? "{}") as Table;
  const connection = await connectToZones({
    folder: pluginFolder(state, "dns"),
    variables: { ...variables, DNS_CONFIG: JSON.stringify(table) },
  });
  try {
    const api = new ApiClient(connectionUrl, null, connection.fetch);
    for (const { name, path, text } of zones) {
      const { id } = (await api.zoneNamed(name)) ?? (await api.createZone(name));
      await api.importFile(id, text, { proxied: false }).catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        const lines = error.problems.map(({ message }) => {
          const [, line, reason] = /^Line (\d+): (.*)/s.exec(message) ?? [];
          const place = line === undefined ? shownPath(path) : `${shownPath(path)}:${line}`;
          return `${place}: ${reason ?? message}`;
        });
        throw new UserError(lines.join("\n"), { cause: error });
      });
    }
  } finally {
    await connection.close();
  }
}
