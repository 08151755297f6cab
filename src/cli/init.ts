/** `ledge init`: writes a new project into an empty folder. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { UserError } from "../base/user-error.ts";
import type { LeafCommand } from "./command.ts";
import { projectFiles } from "./init-files.ts";
import { textOption } from "./options.ts";

/** Files that a new folder may hold: a repository often exists before the project. */
const ignoredFiles = new Set([".git", ".DS_Store"]);
const filesShownMax = 5;
/** wrangler's rule for the names of scripts, which suits npm too. */
const namePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;

export const init: LeafCommand = {
  name: "init",
  summary: "Writes a new TypeScript project into an empty folder",
  details:
    "The project has a script with a bucket, a test, and the configuration of both. The command\n" +
    "installs and downloads nothing, and changes nothing in a folder that has files.",
  arguments: [
    { name: "DIR", summary: "The folder; by default the working folder", optional: true },
  ],
  options: {
    name: { summary: "The name of the project", value: "NAME", default: "the folder's name" },
  },
  examples: ["ledge init photos", "ledge init . --name photos"],

  async run(invocation) {
    const folder = resolve(invocation.arguments[0] ?? ".");
    const name = textOption(invocation, "name") ?? projectName(folder);
    const paths = writeProject(folder, name);
    const step = relative(process.cwd(), folder);
    console.log(
      [
        `Made the project "${name}":`,
        ...paths.map((path) => `  ${path}`),
        "",
        "Next:",
        ...(step === "" ? [] : [`  cd ${step}`]),
        "  npm install",
        "  npm run dev",
      ].join("\n"),
    );
  },
};

/** Returns the paths of the files, relative to the folder. */
function writeProject(folder: string, name: string): string[] {
  if (!namePattern.test(name)) {
    throw new UserError(
      `"${name}" is not a name for a project. Use 1 to 63 lower-case letters, digits and "-", ` +
        "starting with a letter or a digit.",
    );
  }
  checkEmpty(folder);
  const files = projectFiles(name, testedVersions());
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return Object.keys(files);
}

/** A valid name made from the name of the folder. */
function projectName(folder: string): string {
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
