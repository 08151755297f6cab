/** The names of `env` that a configuration binds, each of which can stand for one thing. */
import { isTable, type Table } from "./config-file.ts";
import { fieldName, type Path } from "./place.ts";
import { bindingPlaces } from "./wrangler-keys.ts";

export class BoundNames {
  readonly #owners = new Map<string, string>();

  /** Of wrangler's own kinds, and the secrets of `.dev.vars`. */
  constructor(table: Table, secrets: Iterable<string> = []) {
    for (const name of secrets) this.#owners.set(name, ".dev.vars");
    for (const { name, path } of boundNames(table)) this.#owners.set(name, fieldName(path));
  }

  /** `null` if the name was free and is now taken; otherwise what to say. */
  claim(name: string, path: Path): string | null {
    const owner = this.#owners.get(name);
    if (owner !== undefined) {
      return `"${name}" is taken already, by ${owner}. Give one of them another name.`;
    }
    this.#owners.set(name, fieldName(path));
    return null;
  }
}

function boundNames(table: Table): { name: string; path: Path }[] {
  return bindingPlaces.flatMap((place) => follow(table, place.split("."), []));
}

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
