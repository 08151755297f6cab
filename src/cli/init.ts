/** `ledge init`: a new project in an empty folder, or the edits of an existing project. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { counted } from "../base/format.ts";
import { UserError } from "../base/user-error.ts";
import { exitCode, type Invocation, type LeafCommand } from "./command.ts";
import type { PackageManager } from "./init/packages.ts";
import type { Plan } from "./init/plan.ts";
import type { FileEdit } from "./init/planned-files.ts";
import { confirm, printRemark } from "./output.ts";

/** Files that a new folder may hold: a repository often exists before the project. */
const ignoredFiles = new Set([".git", ".DS_Store"]);
const filesShownMax = 5;
/** wrangler's rule for the names of scripts, which suits npm too. */
const namePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;

export const init: LeafCommand = {
  name: "init",
  summary: "Writes a new project, or edits an existing one",
  details:
    "In an empty folder: a script with a bucket, a test, and the configuration of both. In an\n" +
    "existing project: shows the edits of the configurations (wrangler, vitest, Vite), tsconfig,\n" +
    ".gitignore and package.json, and makes them when you agree. r2_buckets stays for the deploy,\n" +
    "and store_buckets serves the same bindings locally. The command installs nothing, and prints\n" +
    "the command of your package manager. A second run finds nothing to do.",
  arguments: [["[DIR]", "The folder; by default the working folder"]],
  options: {
    "--name NAME": "The name of a new project (default: the folder's name)",
    "-y, --yes": "Makes the edits without asking",
    "--copy-objects": "Copies the simulator's objects (r2_buckets) into the store",
  },
  examples: ["ledge init photos", "ledge init", "ledge init --yes --copy-objects"],

  async run(invocation, path = ".") {
    const folder = resolve(path);
    if (isEmpty(folder)) return makeProject(invocation, folder);
    const { findProjects, planMigration, planTemplate, projectName } =
      await import("./init/plan.ts");
    const manager = await packageManagerOf(folder);
    const versions = ownVersions();
    const projects = findProjects(folder);
    if (projects.length > 0) {
      const { dev } = await import("./dev.ts");
      const { types } = await import("./types.ts");
      const version = versions["ledge"] as string;
      const plan = planMigration(folder, projects, [dev, types], { version, manager });
      return migrate(invocation, folder, plan, manager);
    }
    requireManifest(folder);
    refuseOtherConfigurations(folder);
    const name = validName(invocation.text("name") ?? projectName(folder));
    return migrate(invocation, folder, planTemplate(folder, name, versions, manager), manager);
  },
};

/** Writes the template. There is nothing to confirm in an empty folder. */
async function makeProject(invocation: Invocation, folder: string): Promise<void> {
  const { projectName } = await import("./init/plan.ts");
  const { templateFiles } = await import("./init/template.ts");
  const name = validName(invocation.text("name") ?? projectName(folder));
  const manager = await packageManagerOf(folder);
  const files = Object.entries(templateFiles(name, ownVersions(), manager));
  writeFiles(
    folder,
    files.map(([path, after]) => ({ path, before: null, after })),
  );
  console.log(
    [
      `Made the project "${name}":`,
      ...files.map(([path]) => `  ${path}`),
      ...nextSteps(folder, [`${manager.name} install`, `${manager.name} run dev`]),
    ].join("\n"),
  );
}

async function packageManagerOf(folder: string): Promise<PackageManager> {
  const { findPackageManager } = await import("./init/packages.ts");
  return findPackageManager(folder);
}

async function migrate(
  invocation: Invocation,
  folder: string,
  plan: Plan,
  manager: PackageManager,
): Promise<number> {
  const isConfirmed = invocation.flag("yes");
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const { edits, notes, remarks, starts } = plan;
  if (edits.length > 0) {
    const { renderDiff } = await import("./init/planned-files.ts");
    console.log(`${edits.map(renderDiff).join("\n\n")}\n`);
  }
  for (const note of notes) printRemark(`By hand: ${note}`);
  if (edits.length > 0 && !isConfirmed) {
    const isAgreed =
      isTerminal && (await confirm(`Make these changes of ${counted(edits.length, "file")}?`));
    if (!isAgreed) {
      const why = isTerminal ? "" : ": there is no terminal to ask. Make the changes with --yes";
      printRemark(`No file was changed${why}.`);
      // The option asks for the objects, whatever becomes of the files.
      if (invocation.flag("copy-objects")) await copySimulatorObjects(invocation, plan, false);
      return exitCode.failed;
    }
  }
  writeFiles(folder, edits);
  const changesManifest = edits.some(({ path }) => path.endsWith("package.json"));
  console.log(
    edits.length === 0
      ? "Nothing to do: the project is set up."
      : [
          `Changed ${counted(edits.length, "file")}.`,
          ...remarks.flatMap((remark) => ["", remark]),
          ...nextSteps(folder, [
            ...(changesManifest ? [`${manager.name} install`] : []),
            ...starts,
          ]),
        ].join("\n"),
  );
  await copySimulatorObjects(invocation, plan, isTerminal && !isConfirmed);
  return exitCode.done;
}

/** Copies the objects of the simulator if an option or the user says so. */
async function copySimulatorObjects(
  invocation: Invocation,
  { configurations }: Plan,
  mayAsk: boolean,
): Promise<void> {
  const { copyObjects, simulatorBuckets } = await import("./init/simulator-objects.ts");
  const buckets = simulatorBuckets(configurations);
  if (buckets.length === 0) return;
  const names = buckets.map(({ bucketName }) => bucketName).join(", ");
  if (!invocation.flag("copy-objects")) {
    if (!mayAsk || !(await confirm(`Copy the simulator's objects of ${names} into the store?`))) {
      console.log(
        `The simulator has objects of ${names}: "ledge init --copy-objects" copies them into the store.`,
      );
      return;
    }
  }
  for (const bucket of buckets) {
    const { copied, kept } = await copyObjects(bucket);
    const rest = kept === 0 ? "" : ` The store has ${counted(kept, "object")} already.`;
    console.log(`${bucket.bucketName}: copied ${counted(copied, "object")}.${rest}`);
  }
}

function nextSteps(folder: string, commands: readonly string[]): string[] {
  const step = relative(process.cwd(), folder);
  const steps = [...(step === "" ? [] : [`cd ${step}`]), ...commands];
  return steps.length === 0 ? [] : ["", "Next:", ...steps.map((line) => `  ${line}`)];
}

function writeFiles(folder: string, edits: readonly FileEdit[]): void {
  for (const { path, after } of edits) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), after);
  }
}

function validName(name: string): string {
  if (namePattern.test(name)) return name;
  throw new UserError(
    `"${name}" is not a name for a project. Use 1 to 63 lower-case letters, digits and "-", ` +
      "starting with a letter or a digit.",
  );
}

/** @throws UserError for a file */
function isEmpty(folder: string): boolean {
  if (!existsSync(folder)) return true;
  if (!statSync(folder).isDirectory()) {
    throw new UserError(`${folder} is a file: name a folder that is empty or does not exist.`);
  }
  return listed(folder).length === 0;
}

function listed(folder: string): string[] {
  return readdirSync(folder).filter((name) => !ignoredFiles.has(name));
}

/** @throws UserError for a folder that is neither empty nor a project */
function requireManifest(folder: string): void {
  if (existsSync(join(folder, "package.json"))) return;
  const found = listed(folder);
  const shown = found.slice(0, filesShownMax).join(", ");
  const more = found.length > filesShownMax ? ` and ${found.length - filesShownMax} more` : "";
  throw new UserError(
    `${folder} is neither empty nor a project: it has ${shown}${more}, and no package.json and no ` +
      "wrangler configuration. Name an empty folder, a new folder or the folder of a project.",
  );
}

/**
 * A repository often has only an example of its configuration: the user's own file is not committed.
 *
 * @throws UserError for such a folder
 */
function refuseOtherConfigurations(folder: string): void {
  const found = listed(folder).find((name) => /^wrangler\b.*\.(?:toml|jsonc?)$/.test(name));
  if (found === undefined) return;
  const own = found.replace(/^wrangler\b.*\./, "wrangler.");
  throw new UserError(
    `${folder} has ${found}, and no ${own}: copy ${found} to ${own}, and run "ledge init" again.`,
  );
}

/** The version of this package, and the versions of the packages that it is built with. */
function ownVersions(): Record<string, string> {
  const description = JSON.parse(
    readFileSync(new URL(import.meta.resolve("ledge/package.json")), "utf8"),
  ) as { version: string; devDependencies: Record<string, string> };
  return { ...description.devDependencies, ledge: description.version };
}
