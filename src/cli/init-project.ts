/** Writes the files of a new project. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UserError } from "../base/user-error.ts";
import { projectFiles } from "./init-files.ts";

/** Files that a new folder may hold: a repository often exists before the project. */
const ignoredFiles = new Set([".git", ".DS_Store"]);
const filesShownMax = 5;
/** wrangler's rule for the names of scripts, which suits npm too. */
const namePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Returns the paths of the files, relative to the folder. */
export function writeProject(folder: string, name: string): string[] {
  if (!namePattern.test(name)) {
    throw new UserError(
      `"${name}" is not a name for a project. Use 1 to 63 lower-case letters, digits and "-", ` +
        "starting with a letter or a digit.",
    );
  }
  checkEmpty(folder);
  const files = projectFiles({ name, versions: testedVersions() });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return Object.keys(files);
}

/** A valid name made from the name of the folder. */
export function projectName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 63);
  return name === "" ? "project" : name;
}

/** @throws UserError for a file, and for a folder that is not empty */
function checkEmpty(folder: string): void {
  if (!existsSync(folder)) return;
  if (!statSync(folder).isDirectory()) {
    throw new UserError(`${folder} is a file: name a folder that is empty or does not exist.`);
  }
  const found = readdirSync(folder).filter((name) => !ignoredFiles.has(name));
  if (found.length === 0) return;
  const shown = found.slice(0, filesShownMax).join(", ");
  const more = found.length > filesShownMax ? ` and ${found.length - filesShownMax} more` : "";
  throw new UserError(
    `${folder} is not empty: it has ${shown}${more}. Name a folder that is empty or does not exist.`,
  );
}

/** The version of this package, and the versions of the packages that it is tested with. */
function testedVersions(): Record<string, string> {
  const description = JSON.parse(
    readFileSync(new URL(import.meta.resolve("ledge/package.json")), "utf8"),
  ) as { version: string; devDependencies: Record<string, string> };
  return { ...description.devDependencies, ledge: description.version };
}
