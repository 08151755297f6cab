/**
 * The configuration for stock wrangler: buckets and DNS become `unsafe` bindings, which name the
 * plugin.
 *
 * The environment stays below `env`, because wrangler derives the secrets and the name of the
 * script from the environment: a caller gives wrangler the name of the environment too. Other
 * environments are left out. Paths stay as they were written, so the result belongs into the folder
 * of the original file: wrangler resolves paths, `.dev.vars` and the state from there.
 */
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pluginPath } from "../base/runtime.ts";
import { isTable, type Table } from "../base/schema.ts";
import { FileLock, removeFreeLock } from "../state/lock.ts";
import { newRunId } from "../state/runs.ts";
import { remoteOption } from "../store/config/remotes.ts";
import { withoutServedBuckets } from "./deployed-buckets.ts";
import { withoutLedgeKeys } from "./keys.ts";
import type { BucketBinding } from "../store/config/store-buckets.ts";
import type { ProjectConfig } from "./read-config.ts";

/** An entry of wrangler's `unsafe.bindings` that a plugin of Ledge serves. */
export interface UnsafeBindingEntry {
  readonly name: string;
  readonly type: "store_bucket" | "dns";
  readonly dev: {
    readonly plugin: { readonly package: string; readonly name: "store" | "dns" };
    readonly options: Table;
  };
}

export function toWranglerTable(
  config: ProjectConfig,
  bindings: readonly UnsafeBindingEntry[] = unsafeBindings(config),
): Table {
  const { environment, buckets } = config;
  const withOurs = (table: Table): Table =>
    withBindings(withoutServedBuckets(table, buckets), bindings);
  const { env: environments, ...common } = config.source;
  if (environment === undefined) return withOurs(common);
  const own = (environments as Readonly<Record<string, Table>>)[environment] as Table;
  return { ...withBindings(common, []), env: { [environment]: withOurs(own) } };
}

export function unsafeBindings({ buckets, dns }: ProjectConfig): UnsafeBindingEntry[] {
  const entries: UnsafeBindingEntry[] = buckets.map((bucket) => ({
    name: bucket.binding,
    type: "store_bucket",
    dev: { plugin: { package: pluginPath, name: "store" }, options: bucketOptions(bucket) },
  }));
  if (dns.binding === undefined) return entries;
  const plugin = { package: pluginPath, name: "dns" } as const;
  return [...entries, { name: dns.binding, type: "dns", dev: { plugin, options: dns.table } }];
}

/** The options of the plugin (`parseBucketOptions`). The preview bucket is the local bucket. */
function bucketOptions(bucket: BucketBinding): Table & { readonly bucket_name: string } {
  const { bucketName, previewBucketName, remote } = bucket;
  const others = {
    storage_class: bucket.storageClass,
    verify_reads: bucket.verifyReads,
    durability: bucket.durability,
    list_trailing_delimiter: bucket.listTrailingDelimiter,
    public: bucket.public,
    s3_compatibility: bucket.s3Compatibility,
    remote: remote && remoteOption(remote),
  };
  // The pool of vitest refuses options that are not JSON, and `undefined` is none.
  const given = Object.entries(others).filter(([, option]) => option !== undefined);
  return { bucket_name: previewBucketName ?? bucketName, ...Object.fromEntries(given) };
}

function withBindings(table: Table, bindings: readonly UnsafeBindingEntry[]): Table {
  const rest = withoutLedgeKeys(table);
  if (bindings.length === 0) return rest;
  const unsafe = isTable(rest["unsafe"]) ? rest["unsafe"] : {};
  const others: unknown[] = Array.isArray(unsafe["bindings"]) ? unsafe["bindings"] : [];
  return { ...rest, unsafe: { ...unsafe, bindings: [...others, ...bindings] } };
}

/**
 * A temporary configuration file, for functions of wrangler that take a path and not a table.
 *
 * The file stands beside the original, because wrangler resolves paths, `.dev.vars` and `.env` from
 * its folder. Beside it is a lock that this process holds: the next process removes files that a killed
 * process has left.
 *
 * While wrangler reads the file, its output names the original file, and its warning about `unsafe`
 * bindings is switched off: the user has written neither. The console and the environment belong to
 * the whole process, and several files can be in use at once: the first file changes both, and the
 * last file restores them.
 */

const methods = ["log", "warn", "error"] as const;
const noUnsafeWarning = "WRANGLER_DISABLE_EXPERIMENTAL_WARNING";
const lockPattern = /^\.ledge-[0-9a-f]{16}\.lock$/;

export interface TemporaryConfig {
  readonly path: string;
  write(table: Table): void;
  remove(): void;
}

/** Writes the file. The caller removes it. */
export function writeTemporaryConfig(folder: string, table: Table): TemporaryConfig {
  for (const name of readdirSync(folder)) {
    if (!lockPattern.test(name)) continue;
    const lockPath = join(folder, name);
    removeFreeLock(lockPath, () => rmSync(fileBeside(lockPath), { force: true }));
  }
  const lockPath = join(folder, `.ledge-${newRunId()}.lock`);
  const path = fileBeside(lockPath);
  const lock = FileLock.takeOwn(lockPath);
  // The original may be private, and may hold keys.
  const write = (now: Table): void => writeFileSync(path, JSON.stringify(now), { mode: 0o600 });
  write(table);
  return {
    path,
    write,
    remove() {
      for (const each of [path, lockPath]) rmSync(each, { force: true });
      lock.release();
    },
  };
}

export async function withTemporaryConfig<Result>(
  { folder, path: original }: Pick<ProjectConfig, "folder" | "path">,
  table: Table,
  read: (path: string) => Promise<Result>,
): Promise<Result> {
  const file = writeTemporaryConfig(folder, table);
  try {
    return await withOriginalName(file.path, original, () => read(file.path));
  } finally {
    file.remove();
  }
}

/** While wrangler reads the file at `path`, messages and errors name the file that the user wrote. */
export async function withOriginalName<Result>(
  path: string,
  original: string | null | undefined,
  read: () => Promise<Result>,
): Promise<Result> {
  const restore = showOriginalName(path, original ?? "wrangler.json");
  try {
    return await read();
  } catch (error) {
    if (error instanceof Error) error.message = rename(error.message) as string;
    throw error;
  } finally {
    restore();
  }
}

/** The same for several files, each in the folder of its original. */
export async function withTemporaryConfigs<Result>(
  files: readonly (Pick<ProjectConfig, "folder" | "path"> & { readonly table: Table })[],
  read: (paths: string[]) => Result | Promise<Result>,
  written: readonly string[] = [],
): Promise<Result> {
  const [file, ...rest] = files;
  if (file === undefined) return read([...written]);
  return withTemporaryConfig(file, file.table, (path) =>
    withTemporaryConfigs(rest, read, [...written, path]),
  );
}

function fileBeside(lockPath: string): string {
  return lockPath.replace(/lock$/, "wrangler.json");
}

/** Names of original files, by the names of temporary files. One file can be read several times at once. */
const originalNames = new Map<string, { readonly original: string; readers: number }>();
let restoreProcess: (() => void) | null = null;

/** @returns a function that ends the rewriting for this reader */
function showOriginalName(path: string, original: string): () => void {
  const name = basename(path);
  const entry = originalNames.get(name) ?? { original: basename(original), readers: 0 };
  entry.readers += 1;
  originalNames.set(name, entry);
  restoreProcess ??= changeProcess();
  return () => {
    entry.readers -= 1;
    if (entry.readers === 0) originalNames.delete(name);
    if (originalNames.size > 0) return;
    restoreProcess?.();
    restoreProcess = null;
  };
}

function changeProcess(): () => void {
  const isSet = noUnsafeWarning in process.env;
  if (!isSet) process.env[noUnsafeWarning] = "1";
  const replaced = methods.map((method) => {
    const before = console[method];
    const rewrite = (...values: unknown[]): void => before.apply(console, values.map(rename));
    console[method] = rewrite;
    return { method, before, rewrite };
  });
  return () => {
    if (!isSet) delete process.env[noUnsafeWarning];
    for (const { method, before, rewrite } of replaced) {
      // A method that other code has replaced meanwhile stays as it is.
      if (console[method] === rewrite) console[method] = before;
    }
  };
}

function rename(value: unknown): unknown {
  if (typeof value !== "string") return value;
  let text = value;
  for (const [name, { original }] of originalNames) text = text.replaceAll(name, original);
  return text;
}
