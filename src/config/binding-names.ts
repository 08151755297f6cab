/**
 * The names of bindings, which a script writes after `env.`. Each name belongs to one binding, with
 * one exception: a name may stand in `store_buckets` and in `r2_buckets` (`deployed-buckets.ts`).
 */
import {
  fieldName,
  isIdentifier,
  isTable,
  type Path,
  type ReportMistake,
  type Table,
} from "../base/schema.ts";
import { bindingPaths } from "./wrangler-keys.ts";

export class BindingNames {
  readonly #owners = new Map<string, string>();

  /** Starts with the bindings that wrangler knows, and the secrets of `.dev.vars`. */
  constructor(table: Table, secrets: Iterable<string> = []) {
    for (const name of secrets) this.#owners.set(name, ".dev.vars");
    for (const steps of bindingPaths) {
      for (const { name, path } of follow(table, steps.split("."), [])) {
        this.#owners.set(name, fieldName(path));
      }
    }
  }

  /** Adds the name at `path`, or reports that another binding has it. Ignores invalid names. */
  claim(name: unknown, path: Path, report: ReportMistake): void {
    if (!isIdentifier(name)) return;
    const owner = this.#owners.get(name);
    const isShared = path[0] === "store_buckets" && owner?.startsWith("r2_buckets[") === true;
    if (owner === undefined || isShared) this.#owners.set(name, fieldName(path));
    else report(path, `"${name}" is already taken by ${owner}. Give one of them another name`);
  }
}

/** The names at a path of `wrangler-keys.ts`, with the path of each. */
function follow(
  value: unknown,
  [step, ...rest]: readonly string[],
  path: Path,
): { name: string; path: Path }[] {
  if (step === undefined) return typeof value === "string" ? [{ name: value, path }] : [];
  if (step === "*") {
    const items: unknown[] = Array.isArray(value) ? value : [];
    return items.flatMap((item, index) => follow(item, rest, [...path, index]));
  }
  if (!isTable(value)) return [];
  if (step === "{}") return Object.keys(value).map((name) => ({ name, path: [...path, name] }));
  return follow(value[step], rest, [...path, step]);
}
