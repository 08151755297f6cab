/** The edits that make a project one of Ledge, and their diff. A plan reads files and writes none. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { isTable } from "../../base/schema.ts";
import { findConfigFileIn } from "../../config/config-file.ts";
import { readConfig, type ProjectConfig } from "../../config/read-config.ts";
import type { LeafCommand } from "../command.ts";
import {
  addDependencies,
  addScripts,
  dependsOn,
  editConfiguration,
  editGitignore,
  editScripts,
  editTsconfig,
  editVitestConfig,
  parseManifest,
  type Note,
} from "./edits.ts";
import { templateDependencies, templateFiles, templateScripts } from "./template.ts";

export interface FileEdit {
  /** Relative to the folder of the command, with slashes. */
  readonly path: string;
  /** `null` for a new file. */
  readonly before: string | null;
  readonly after: string;
}

export interface Plan {
  readonly edits: readonly FileEdit[];
  readonly notes: readonly string[];
  /** The configurations of all environments of all projects, adopted. */
  readonly configurations: readonly ProjectConfig[];
}

/** Below the folder of a monorepo: `packages/shop/worker`. */
const searchDepthMax = 3;
const vitestConfigPattern = /^vite(?:st)?(?:\.[\w-]+)?\.config\.[cm]?[jt]s$/;

/** The folders with a configuration file: this folder, or else the folders below it. */
export function findProjects(folder: string, depth = 0): string[] {
  if (findConfigFileIn(folder) !== null) return [folder];
  if (depth === searchDepthMax) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^\.|^node_modules$|^dist$/.test(entry.name))
    .flatMap(({ name }) => findProjects(join(folder, name), depth + 1));
}

/**
 * The edits of existing projects.
 *
 * @param commands our commands that replace wrangler's in scripts
 * @throws UserError with the mistakes of a configuration file
 */
export function planMigration(
  folder: string,
  projects: readonly string[],
  commands: readonly LeafCommand[],
  version: string,
): Plan {
  const files = new PlannedFiles(folder);
  const configurations = projects.flatMap(readEnvironments);
  for (const project of projects) {
    const configPath = findConfigFileIn(project) as string;
    const isToml = configPath.endsWith(".toml");
    files.edit(configPath, (text, note) =>
      editConfiguration(text, { isToml, schemaPath: schemaPath(project, isToml) }, note),
    );
    for (const name of readdirSync(project)) {
      const path = join(project, name);
      if (vitestConfigPattern.test(name)) files.edit(path, editVitestConfig);
      if (name === "tsconfig.json") files.edit(path, editTsconfig);
    }
    for (const path of new Set([join(project, "package.json"), join(folder, "package.json")])) {
      files.edit(path, (text, note) => editScripts(text, commands, note));
    }
    addLedge(files, project, version);
    ignoreState(files, project);
  }
  return { ...files.plan(), configurations };
}

/** The edits of a folder that has a `package.json` and no configuration file. */
export function planTemplate(
  folder: string,
  name: string,
  versions: Readonly<Record<string, string>>,
): Plan {
  const files = new PlannedFiles(folder);
  for (const [path, text] of Object.entries(templateFiles(name, versions))) {
    if (!existsSync(join(folder, path))) files.set(join(folder, path), text);
  }
  files.edit(join(folder, "package.json"), (text) =>
    addDependencies(addScripts(text, templateScripts), templateDependencies(versions)),
  );
  ignoreState(files, folder);
  return { ...files.plan(), configurations: [] };
}

/** The edited files, each with its first and its last text. */
class PlannedFiles {
  readonly folder: string;
  readonly #files = new Map<string, { before: string | null; after: string }>();
  readonly #notes = new Set<string>();

  constructor(folder: string) {
    this.folder = folder;
  }

  /** The text after the edits so far; `null` without a file. */
  read(path: string): string | null {
    const planned = this.#files.get(path);
    if (planned !== undefined) return planned.after;
    return existsSync(path) ? readFileSync(path, "utf8") : null;
  }

  set(path: string, after: string): void {
    const { before } = this.#files.get(path) ?? { before: this.read(path) };
    this.#files.set(path, { before, after });
  }

  /** A file that does not exist is left out. */
  edit(path: string, edit: (text: string, note: Note) => string): void {
    const current = this.read(path);
    if (current === null) return;
    this.set(
      path,
      edit(current, (note) => this.#notes.add(`${this.#shown(path)}: ${note}`)),
    );
  }

  plan(): Pick<Plan, "edits" | "notes"> {
    return {
      edits: [...this.#files]
        .filter(([, { before, after }]) => before !== after)
        .map(([path, texts]) => ({ path: this.#shown(path), ...texts })),
      notes: [...this.#notes],
    };
  }

  #shown(path: string): string {
    return relative(this.folder, path).split(sep).join("/");
  }
}

function readEnvironments(project: string): ProjectConfig[] {
  const configPath = findConfigFileIn(project) as string;
  const selection = { configPath, adopt: true, keysOptional: true };
  const top = readConfig(selection);
  const names = isTable(top.source["env"]) ? Object.keys(top.source["env"]) : [];
  return [top, ...names.map((environment) => readConfig({ ...selection, environment }))];
}

/** Adds the dependency beside wrangler, unless this project or one above it has the dependency. */
function addLedge(files: PlannedFiles, project: string, version: string): void {
  const manifests = foldersUpTo(project, files.folder).flatMap((each) => {
    const path = join(each, "package.json");
    const text = files.read(path);
    return text === null ? [] : { path, manifest: parseManifest(text) };
  });
  if (manifests.some(({ manifest }) => dependsOn(manifest, "ledge"))) return;
  const beside = manifests.find(({ manifest }) => dependsOn(manifest, "wrangler"));
  const chosen = beside ?? manifests.at(-1);
  if (chosen === undefined) return;
  files.edit(chosen.path, (text) => addDependencies(text, { ledge: `^${version}` }));
}

function ignoreState(files: PlannedFiles, project: string): void {
  const paths = foldersUpTo(project, files.folder).map((each) => join(each, ".gitignore"));
  const path = paths.find((each) => files.read(each) !== null) ?? join(files.folder, ".gitignore");
  const above = foldersUpTo(dirname(path), repositoryRoot(files.folder)).slice(1);
  const inherited = [
    ...paths.filter((each) => each !== path).map((each) => files.read(each) ?? ""),
    ...above.map((each) => files.read(join(each, ".gitignore")) ?? ""),
  ];
  const after = editGitignore(files.read(path), inherited);
  if (after !== null) files.set(path, after);
}

/** The folder, and the folders above it up to `top`. */
function foldersUpTo(folder: string, top: string): string[] {
  const parent = dirname(folder);
  return folder === top || parent === folder ? [folder] : [folder, ...foldersUpTo(parent, top)];
}

function repositoryRoot(folder: string): string {
  const parent = dirname(folder);
  if (existsSync(join(folder, ".git"))) return folder;
  return parent === folder ? folder : repositoryRoot(parent);
}

/** The path of the schema from a project: `node_modules` is in the project or above it. */
function schemaPath(project: string, isToml: boolean): string {
  const folders = foldersUpTo(resolve(project), sep);
  const holder =
    folders.find((each) => existsSync(join(each, "node_modules", "ledge"))) ??
    folders.find((each) => existsSync(join(each, "node_modules", "wrangler"))) ??
    project;
  const file = isToml ? "config-schema-toml.json" : "config-schema.json";
  return relative(project, join(holder, "node_modules/ledge/dist", file))
    .split(sep)
    .join("/");
}

export function projectName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 63);
  return name === "" ? "project" : name;
}

const contextLines = 3;

/** A unified diff, for people who review the edits; `…` stands for lines that are left out. */
export function renderDiff({ path, before, after }: FileEdit): string {
  if (before === null) {
    return [`new file ${path}`, ...splitLines(after).map((line) => `+${line}`)].join("\n");
  }
  const lines = diffLines(splitLines(before), splitLines(after));
  const isShown = lines.map((_, index) =>
    lines
      .slice(Math.max(0, index - contextLines), index + contextLines + 1)
      .some((line) => !line.startsWith(" ")),
  );
  const shown = lines.flatMap((line, index) => {
    if (isShown[index] === true) return [line];
    return index === 0 || isShown[index - 1] === true ? ["…"] : [];
  });
  return [`--- ${path}`, `+++ ${path}`, ...shown].join("\n");
}

function splitLines(text: string): string[] {
  return text.replace(/\r?\n$/, "").split(/\r?\n/);
}

/** The edits add lines and change single lines: each old line stays at its next place, if there is one. */
function diffLines(before: readonly string[], after: readonly string[]): string[] {
  const lines: string[] = [];
  let removed: string[] = [];
  let next = 0;
  const addUpTo = (end: number): void => {
    lines.push(...removed, ...after.slice(next, end).map((line) => `+${line}`));
    removed = [];
  };
  for (const line of before) {
    const place = after.indexOf(line, next);
    if (place === -1) {
      removed.push(`-${line}`);
      continue;
    }
    addUpTo(place);
    lines.push(` ${line}`);
    next = place + 1;
  }
  addUpTo(after.length);
  return lines;
}
