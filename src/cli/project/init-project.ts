/** `ledge init`: writes a new project where nothing is. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { UserError } from "../../base/user-error.ts";
import { newProjectFiles } from "./new-project.ts";

export interface InitOptions {
  /** The working folder without it. */
  folder?: string;
  /** Of the project and its script; made from the folder's without it. */
  name?: string;
}

export interface InitializedProject {
  readonly folder: string;
  readonly name: string;
  /** Relative to the folder. */
  readonly files: readonly string[];
}

/** What may be there already: a repository is begun before a project as often as after. */
const harmless = new Set([".git", ".DS_Store"]);
const shownMax = 5;

/** wrangler's rule for the names of scripts, which suits npm too. */
const namePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;

export function initProject(options: InitOptions = {}): InitializedProject {
  const folder = resolve(options.folder ?? ".");
  const name = options.name ?? nameOf(folder);
  if (!namePattern.test(name)) {
    throw new UserError(
      `"${name}" is not a name for a project. Use 1 to 63 small letters, digits and "-", ` +
        "beginning with a letter or a digit.",
    );
  }
  refuseFiles(folder);
  const files = newProjectFiles({ name, versions: testedVersions() });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return { folder, name, files: Object.keys(files) };
}

function nameOf(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 63);
  return name === "" ? "project" : name;
}

function refuseFiles(folder: string): void {
  if (!existsSync(folder)) return;
  if (!statSync(folder).isDirectory()) {
    throw new UserError(`${folder} is a file: name a folder that is empty, or not there yet.`);
  }
  const found = readdirSync(folder).filter((name) => !harmless.has(name));
  if (found.length === 0) return;
  const shown = found.slice(0, shownMax).join(", ");
  const more = found.length > shownMax ? ` and ${found.length - shownMax} more` : "";
  throw new UserError(
    `${folder} is not empty: it has ${shown}${more}. Name a folder that is empty, or not there yet.`,
  );
}

/** This package's own, and of what it was tested with. */
function testedVersions(): Record<string, string> {
  const description = JSON.parse(
    readFileSync(new URL(import.meta.resolve("ledge/package.json")), "utf8"),
  ) as { version: string; devDependencies: Record<string, string> };
  return { ...description.devDependencies, ledge: description.version };
}
