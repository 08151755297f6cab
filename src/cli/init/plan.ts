/** The edits that make a project one of Ledge, and their diff. A plan reads files and writes none. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { linesIf } from "../../base/format.ts";
import { isTable } from "../../base/schema.ts";
import { findConfigFileIn } from "../../config/config-file.ts";
import { adoptBuckets } from "../../config/deployed-buckets.ts";
import { readConfig, type ProjectConfig } from "../../config/read-config.ts";
import type { LeafCommand } from "../command.ts";
import {
  addDependencies,
  addScripts,
  editConfiguration,
  editGitignore,
  editScripts,
  editTsconfig,
  noteFramework,
  parseManifest,
} from "./edits.ts";
import { requirePackages, type PackageManager } from "./packages.ts";
import { foldersUpTo, PlannedFiles, type FileEdit } from "./planned-files.ts";
import {
  editViteConfig,
  editVitestConfig,
  namedConfigurations,
  usesPlatformVite,
  usesPlatformVitest,
  usesPlugin,
} from "./plugins.ts";
import { templateDependencies, templateFiles, templateScripts } from "./template.ts";

export interface Plan {
  readonly edits: readonly FileEdit[];
  readonly notes: readonly string[];
  /** What changes for the user with the edits. */
  readonly remarks: readonly string[];
  /** The commands that start the projects on the store. */
  readonly starts: readonly string[];
  /** The configurations of all environments of all projects, adopted. */
  readonly configurations: readonly ProjectConfig[];
}

/** Below the folder of a monorepo: `packages/shop/worker`. */
const searchDepthMax = 3;
/** `vitest.config.ts`, `vitest.workspace.mts`, `vite.config.unit.js`, `vitest-shared.ts` */
const pluginConfigPattern = /^vite(?:st)?[.-][\w.-]*(?<!\.d)\.[cm]?[jt]s$/;
const skippedFolders = /^\.|^node_modules$|^dist$/;

/**
 * The folders with a configuration file: this folder, or else the folders below it. Of a monorepo, the
 * projects without a bucket are left out, unless no project has one.
 */
export function findProjects(folder: string): string[] {
  const found = findConfigurations(folder, 0);
  const withBuckets = found.filter((project) => {
    const text = readFileSync(findConfigFileIn(project) as string, "utf8");
    return /\b(?:r2|store)_buckets\b/.test(text);
  });
  return withBuckets.length === 0 ? found : withBuckets;
}

function findConfigurations(folder: string, depth: number): string[] {
  if (findConfigFileIn(folder) !== null) return [folder];
  if (depth === searchDepthMax) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !skippedFolders.test(entry.name))
    .flatMap(({ name }) => findConfigurations(join(folder, name), depth + 1));
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
  { version, manager }: { readonly version: string; readonly manager: PackageManager },
): Plan {
  const files = new PlannedFiles(folder);
  const configurations: ProjectConfig[] = [];
  for (const project of projects) {
    for (const path of pluginConfigPaths(project)) {
      files.edit(path, editVitestConfig);
      files.edit(path, editViteConfig);
    }
    files.edit(join(project, "tsconfig.json"), editTsconfig);
    for (const path of configurationFiles(files, project)) {
      configurations.push(...readEnvironments(path));
      const isToml = path.endsWith(".toml");
      files.edit(path, (text, note) =>
        editConfiguration(text, { isToml, schemaPath: schemaPath(dirname(path), isToml) }, note),
      );
    }
    for (const path of new Set([join(project, "package.json"), join(folder, "package.json")])) {
      files.edit(path, (text, note) => editScripts(text, commands, note));
    }
    files.edit(join(project, "package.json"), noteFramework);
    const [isTested, isVite] = [uses(files, project, "vitest"), uses(files, project, "vite")];
    requirePackages(files, project, { version, isTested, isVite });
    ignoreState(files, project);
  }
  editOtherTests(files, projects, version);
  return {
    ...files.plan(),
    configurations,
    remarks: remarksOn(files, projects),
    starts: projects.flatMap((project) => startOf(files, project, manager)),
  };
}

/**
 * The configurations of vitest outside of the projects. Those of a monorepo, in no folder of a project, are
 * edited; those of a project that is left out are named.
 */
function editOtherTests(files: PlannedFiles, projects: readonly string[], version: string): void {
  const done = new Set(projects.flatMap((project) => pluginConfigPaths(project)));
  for (const path of pluginConfigPaths(files.folder, true)) {
    if (done.has(path) || !usesPlatformVitest(files.read(path) as string)) continue;
    const folder = dirname(path);
    const owner = foldersUpTo(folder, files.folder).find((each) => findConfigFileIn(each) !== null);
    if (owner === undefined) {
      files.edit(path, editVitestConfig);
      requirePackages(files, folder, { version, isTested: true, isVite: false });
    } else {
      const shown = relative(files.folder, owner).split(sep).join("/");
      files.edit(path, (text, note) => {
        note(
          `it was left, because it belongs to another project. Run "ledge init" in ${shown} for it.`,
        );
        return text;
      });
    }
  }
}

/**
 * The files that can configure vitest or Vite in a folder, and in folders below it, and files that a script
 * names with `--config`.
 *
 * @param isWhole `true`: also in other projects, which have a configuration file of wrangler
 */
function pluginConfigPaths(folder: string, isWhole = false): string[] {
  const manifest = join(folder, "package.json");
  const { scripts = {} } = existsSync(manifest)
    ? parseManifest(readFileSync(manifest, "utf8"))
    : {};
  const named = Object.values(scripts).flatMap((script) =>
    Array.from(
      script.matchAll(/\bvitest\b[^&|;]*?(?:--config|-c)[= ]["']?([^\s"']+)/g),
      ([, path]) => join(folder, path as string),
    ),
  );
  const search = (where: string, depth: number): string[] =>
    readdirSync(where, { withFileTypes: true }).flatMap((entry) => {
      const path = join(where, entry.name);
      if (entry.isFile()) return pluginConfigPattern.test(entry.name) ? [path] : [];
      const isSkipped = depth === searchDepthMax || skippedFolders.test(entry.name);
      if (!entry.isDirectory() || isSkipped) return [];
      return !isWhole && findConfigFileIn(path) !== null ? [] : search(path, depth + 1);
    });
  return [...new Set([...search(folder, 0), ...named.filter((path) => existsSync(path))])];
}

/** The configuration file of a project, and the files that its vitest and Vite configurations name. */
function configurationFiles(files: PlannedFiles, project: string): Set<string> {
  const named = pluginConfigs(files, project)
    .filter(({ text }) => usesPlugin(text, "vitest") || usesPlugin(text, "vite"))
    .flatMap(({ path: plugin, text }) =>
      // The root of vitest is the folder of its configuration, or the folder in which it is started.
      namedConfigurations(text).flatMap((path) => [
        resolve(dirname(plugin), path),
        resolve(project, path),
      ]),
    );
  return new Set([
    findConfigFileIn(project) as string,
    ...named.filter((path) => existsSync(path)),
  ]);
}

function uses(files: PlannedFiles, project: string, tool: "vite" | "vitest"): boolean {
  return pluginConfigs(files, project).some(({ text }) => usesPlugin(text, tool));
}

/** The texts of the configurations of vitest and Vite, after the edits. */
function pluginConfigs(files: PlannedFiles, project: string) {
  return pluginConfigPaths(project).map((path) => ({ path, text: files.read(path) as string }));
}

function remarksOn(files: PlannedFiles, projects: readonly string[]): string[] {
  const hasNew = (tool: "vite" | "vitest"): boolean =>
    files
      .plan()
      .edits.some(
        ({ before, after }) => !usesPlugin(before ?? "", tool) && usesPlugin(after, tool),
      );
  return [
    ...linesIf(
      projects.some((project) => uses(files, project, "vite")),
      'This is a Vite project: "vite dev" and "vite preview" serve the buckets of the store, with ledge() in\n' +
        "place of cloudflare() (docs/vite.md).",
    ),
    ...linesIf(
      hasNew("vitest"),
      "Tests are isolated now: a test no longer sees what earlier tests have written. If your tests\n" +
        "depend on that, ledge({ isolate: false }) keeps the old way (docs/testing.md).",
    ),
  ];
}

/** The command that starts a project on the store: a script of the project, or else ours. */
function startOf(files: PlannedFiles, project: string, manager: PackageManager): string[] {
  // Such a project uses the simulator until the user has edited its configuration by hand.
  if (pluginConfigs(files, project).some(({ text }) => usesPlatformVite(text))) return [];
  const isVite = uses(files, project, "vite");
  const { scripts = {} } = parseManifest(files.read(join(project, "package.json")) ?? "{}");
  const starts = isVite ? /^(?!.*\b(?:wrangler|build|preview)\b)/ : /\bledge dev\b/;
  const candidates = ["dev", "start", ...(isVite ? [] : Object.keys(scripts))];
  const script = candidates.find((name) => starts.test(scripts[name] ?? "build"));
  const command =
    script === undefined
      ? `${manager.exec} ${isVite ? "vite" : "ledge"} dev`
      : `${manager.name} run ${script}`;
  const step = relative(files.folder, project);
  return [step === "" ? command : `(cd ${step} && ${command})`];
}

/** The edits of a folder that has a `package.json` and no configuration file. */
export function planTemplate(
  folder: string,
  name: string,
  versions: Readonly<Record<string, string>>,
  manager: PackageManager,
): Plan {
  const files = new PlannedFiles(folder);
  for (const [path, text] of Object.entries(templateFiles(name, versions, manager))) {
    if (!existsSync(join(folder, path))) files.set(join(folder, path), text);
  }
  files.edit(join(folder, "package.json"), (text) =>
    addDependencies(addScripts(text, templateScripts), templateDependencies(versions)),
  );
  ignoreState(files, folder);
  const starts = startOf(files, folder, manager);
  return { ...files.plan(), configurations: [], remarks: [], starts };
}

/**
 * The configurations of all environments, adopted. A bucket that cannot be adopted is left out, with a
 * note (`editConfiguration()`): often an environment has a placeholder as the name of its bucket.
 *
 * @throws UserError with the other mistakes of the file
 */
function readEnvironments(configPath: string): ProjectConfig[] {
  const read = (environment?: string): ProjectConfig => {
    const config = readConfig({ configPath, environment, keysOptional: true });
    const adopted = adoptBuckets(config.table, config.buckets, () => {});
    return { ...config, buckets: [...config.buckets, ...adopted] };
  };
  const top = read();
  const names = isTable(top.source["env"]) ? Object.keys(top.source["env"]) : [];
  return [top, ...names.map(read)];
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
