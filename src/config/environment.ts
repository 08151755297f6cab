/**
 * What holds for an environment. As in wrangler, `[env.NAME]` inherits what says how the script
 * is built and run, and not what it is bound to.
 *
 * Buckets are bindings, so they are not inherited: an environment that took the top level's would
 * write to the same objects without anybody having said so. DNS is inherited, for a machine has
 * one, whatever environment runs on it.
 */
import { UserError } from "../base/user-error.ts";
import { isTable, shownPath, type ConfigFile, type Table } from "./config-file.ts";
import { nearest } from "../base/nearest.ts";
import type { Path } from "./place.ts";
import { notInherited } from "./wrangler-keys.ts";

/** The effective table, and which part of the file each of its keys comes from. */
export interface EffectiveTable {
  readonly table: Table;
  /** Where the value of a top-level key stands: below `env.NAME`, or at the top. */
  readonly origin: (key: string) => Path;
  /** Buckets of the top level that the environment does without. */
  readonly leavesBuckets: boolean;
}

export function effectiveTable({ path, table }: ConfigFile, environment?: string): EffectiveTable {
  const { env: environments = {}, ...common } = table;
  if (environment === undefined) {
    return { table: common, origin: (key) => [key], leavesBuckets: false };
  }
  const known = isTable(environments) ? environments : {};
  const own = known[environment];
  if (!isTable(own)) throw noEnvironment(shownPath(path), environment, Object.keys(known));

  const inheritedTable = Object.fromEntries(
    Object.entries(common).filter(([key]) => !notInherited.has(key) && key !== "store_buckets"),
  );
  // As wrangler names the scripts of environments, so that their state is where it looks for it.
  const name = typeof common["name"] === "string" && { name: `${common["name"]}-${environment}` };
  return {
    table: { ...inheritedTable, ...name, ...own },
    origin: (key) => (Object.hasOwn(own, key) ? ["env", environment, key] : [key]),
    leavesBuckets: common["store_buckets"] !== undefined && own["store_buckets"] === undefined,
  };
}

function noEnvironment(path: string, wanted: string, known: readonly string[]): UserError {
  if (known.length === 0) {
    return new UserError(
      `${path} has no environment "${wanted}", for it has none at all: ` +
        `add [env.${wanted}], or leave the environment out.`,
    );
  }
  const guess = nearest(wanted, known);
  return new UserError(
    `${path} has no environment "${wanted}". ` +
      (guess === null
        ? `It has ${known.map((name) => `"${name}"`).join(", ")}.`
        : `Did you mean "${guess}"?`),
  );
}
