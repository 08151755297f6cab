/**
 * The keys of a configuration file: the keys of Ledge, and what Ledge has to know of wrangler's keys.
 *
 * wrangler gets new keys with every release, and checks them itself. So nothing here lists its keys: the
 * schema of the installed wrangler knows them, and bindings of all kinds have the same form.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { nearest } from "../base/nearest.ts";
import { wranglerFolder } from "../base/package-version.ts";
import { isTable, type Path, type Table } from "../base/schema.ts";

const ledgeKeys: readonly string[] = ["store_buckets", "remotes", "dns", "s3", "edge", "state"];

export function isLedgeKey(key: string): boolean {
  return ledgeKeys.includes(key);
}

/** The table and its environments for wrangler, which warns of keys that it does not know. */
export function withoutLedgeKeys(table: Table): Table {
  const rest = Object.fromEntries(Object.entries(table).filter(([key]) => !isLedgeKey(key)));
  if (!isTable(rest["env"])) return rest;
  const environments = Object.entries(rest["env"]).map(
    ([name, own]) => [name, isTable(own) ? withoutLedgeKeys(own) : own] as const,
  );
  return { ...rest, env: Object.fromEntries(environments) };
}

/** The key of Ledge that was meant; `null` for a key of wrangler, or of anything else. */
export function misspeltKey(key: string): string | null {
  // Most keys need no schema.
  if (isLedgeKey(key) || nearest(key, ledgeKeys) === null) return null;
  const others = Object.keys(wranglerKeys());
  const guess = others.includes(key) ? null : nearest(key, [...ledgeKeys, ...others]);
  return guess !== null && isLedgeKey(guess) ? guess : null;
}

type KeySchemas = Readonly<Record<string, { readonly description?: string }>>;
let keySchemas: KeySchemas | undefined;

/**
 * The keys of the installed wrangler, from the schema that it ships for editors; none without wrangler. To
 * read the schema takes 5 ms, so callers ask only if they must.
 */
function wranglerKeys(): KeySchemas {
  return (keySchemas ??= readKeySchemas());
}

function readKeySchemas(): KeySchemas {
  const folder = wranglerFolder();
  if (folder === null) return {};
  try {
    const text = readFileSync(join(folder, "config-schema.json"), "utf8");
    const { definitions } = JSON.parse(text) as {
      definitions?: { RawConfig?: { properties?: KeySchemas } };
    };
    return definitions?.RawConfig?.properties ?? {};
  } catch {
    // Another version may ship no schema. Then each key is wrangler's business.
    return {};
  }
}

/** Keys with a binding that environments inherit nevertheless. A machine has one DNS for all of them. */
const inheritedBindings: ReadonlySet<string> = new Set(["assets", "logfwdr", "dns"]);

/** Whether `[env.NAME]` has this key of the top level too, as long as it has none of its own. */
export function isInherited(key: string, value: unknown): boolean {
  if (inheritedBindings.has(key)) return true;
  if (key === "store_buckets" || bindingNames({ [key]: value }).length > 0) return false;
  return !/(?:each|every) named environment/.test(wranglerKeys()[key]?.description ?? "");
}

interface BindingName {
  readonly name: string;
  readonly path: Path;
}

/** The keys of these tables are names in `env`. */
const nameTables: ReadonlySet<string> = new Set([
  "vars",
  "text_blobs",
  "data_blobs",
  "wasm_modules",
]);
/** The lists whose items have the name in `name`, and not in `binding`. */
const nameLists: ReadonlySet<string | number> = new Set(["bindings", "ratelimits", "send_email"]);

/**
 * The names in `env`. A binding is a table (`ai`), an item of a list (`kv_namespaces`), or an item of a
 * list in a table (`queues.producers`), with its name in `binding`.
 */
export function bindingNames(table: Table): BindingName[] {
  return Object.entries(table).flatMap(([key, value]) => {
    if (!isTable(value)) return namesOfList([key], value);
    if (nameTables.has(key)) return Object.keys(value).map((name) => ({ name, path: [key, name] }));
    const lists = Object.entries(value).flatMap(([inner, list]) => namesOfList([key, inner], list));
    return [...nameAt([key, "binding"], value["binding"]), ...lists];
  });
}

function namesOfList(path: Path, list: unknown): BindingName[] {
  const items: readonly unknown[] = Array.isArray(list) ? list : [];
  const last = path.at(-1) as string;
  const field = nameLists.has(last) ? "name" : "binding";
  return items.flatMap((item, index) => {
    if (path.join(".") === "secrets.required") return nameAt([...path, index], item);
    return isTable(item) ? nameAt([...path, index, field], item[field]) : [];
  });
}

function nameAt(path: Path, name: unknown): BindingName[] {
  return typeof name === "string" ? [{ name, path }] : [];
}
