/**
 * The table of an environment. As in wrangler, `[env.NAME]` inherits the keys that say how the
 * script is built and run, and does not inherit bindings.
 *
 * Buckets are bindings: an environment that inherited the buckets of the top level would write to
 * the same objects without a word in the file. DNS is inherited, because a machine has one DNS for
 * all environments.
 */
import { UserError } from "../base/user-error.ts";
import { nearest } from "../base/nearest.ts";
import { shownPath, type ConfigFile } from "./config-file.ts";
import { isTable, type Path, type Table } from "../base/schema.ts";
import { notInherited } from "./wrangler-keys.ts";

/** The table of an environment, and the part of the file that each of its keys comes from. */
export interface EffectiveTable {
  readonly table: Table;
  /** The path of a key in the file: below `env.NAME`, or at the top level. */
  readonly origin: (key: string) => Path;
  /** The top level has buckets, and the environment does not mention buckets. */
  readonly lacksBuckets: boolean;
}

export function effectiveTable({ path, table }: ConfigFile, environment?: string): EffectiveTable {
  const { env: environments = {}, ...common } = table;
  if (environment === undefined) {
    return { table: common, origin: (key) => [key], lacksBuckets: false };
  }
  const known = isTable(environments) ? environments : {};
  const own = known[environment];
  if (!isTable(own)) throw noEnvironment(shownPath(path), environment, Object.keys(known));

  const inheritedTable = Object.fromEntries(
    Object.entries(common).filter(([key]) => !notInherited.has(key) && key !== "store_buckets"),
  );
  // The name that wrangler gives the script of an environment, so that both use the same state.
  const name = typeof common["name"] === "string" && { name: `${common["name"]}-${environment}` };
  return {
    table: { ...inheritedTable, ...name, ...own },
    origin: (key) => (Object.hasOwn(own, key) ? ["env", environment, key] : [key]),
    lacksBuckets: common["store_buckets"] !== undefined && own["store_buckets"] === undefined,
  };
}

function noEnvironment(path: string, wanted: string, known: readonly string[]): UserError {
  if (known.length === 0) {
    return new UserError(
      `${path} has no environment "${wanted}", and no other environment: ` +
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
