/**
 * The package manager of a project, for the commands that `ledge init` prints, and the packages that
 * Ledge needs in the project.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { compareVersions, type TestedPackage } from "../../base/package-version.ts";
import { testedVersions } from "../../base/tested-versions.ts";
import {
  addDependencies,
  dependencyVersion,
  parseManifest,
  raiseDependency,
  type Manifest,
} from "./edits.ts";
import { foldersUpTo, type PlannedFiles } from "./planned-files.ts";

export interface PackageManager {
  /** `NAME install` installs the packages, and `NAME run SCRIPT` runs a script of the project. */
  readonly name: string;
  /** What runs a program of the project. */
  readonly exec: string;
}

const managers: Readonly<Record<string, PackageManager>> = {
  npm: { name: "npm", exec: "npx" },
  pnpm: { name: "pnpm", exec: "pnpm exec" },
  yarn: { name: "yarn", exec: "yarn" },
  bun: { name: "bun", exec: "bunx" },
};

const oldPool = "@cloudflare/vitest-pool-workers";

const lockFiles: Readonly<Record<string, string>> = {
  "pnpm-lock.yaml": "pnpm",
  "yarn.lock": "yarn",
  "bun.lock": "bun",
  "bun.lockb": "bun",
  "package-lock.json": "npm",
};

/**
 * The package manager that the folder or the nearest folder above names, in `packageManager` or by a
 * lock file; otherwise the package manager that runs this program.
 */
export function findPackageManager(
  folder: string,
  userAgent = process.env["npm_config_user_agent"] ?? "",
): PackageManager {
  const [manifest, parent] = [join(folder, "package.json"), dirname(folder)];
  const named = existsSync(manifest)
    ? parseManifest(readFileSync(manifest, "utf8")).packageManager
    : undefined;
  const [, field = ""] = /^(\w+)@/.exec(named ?? "") ?? [];
  const [, lock = ""] =
    Object.entries(lockFiles).find(([file]) => existsSync(join(folder, file))) ?? [];
  const found = managers[field] ?? managers[lock];
  if (found !== undefined) return found;
  // A lock file above a repository belongs to something else.
  if (parent !== folder && !existsSync(join(folder, ".git"))) {
    return findPackageManager(parent, userAgent);
  }
  const [, running = ""] = /^(\w+)\//.exec(userAgent) ?? [];
  return managers[running] ?? (managers["npm"] as PackageManager);
}

/**
 * Adds the packages that a project needs beside wrangler, and raises versions that are too old for
 * Ledge. A package that a folder above the command's folder provides is not added.
 */
export function requirePackages(
  files: PlannedFiles,
  project: string,
  {
    version,
    isTested,
    isVite,
  }: { readonly version: string; readonly isTested: boolean; readonly isVite: boolean },
): void {
  requirePackage(files, project, "ledge", version);
  const hasOldPool = manifestsOf(files, project).some(({ manifest }) => has(manifest, oldPool));
  const tools: TestedPackage[] = [
    "wrangler",
    ...(isTested ? ([hasOldPool ? oldPool : "@cloudflare/vitest-plugin", "vitest"] as const) : []),
    ...(isVite ? (["@cloudflare/vite-plugin"] as const) : []),
  ];
  for (const name of tools) {
    const [oldest, newest] = testedVersions[name];
    requirePackage(files, project, name, oldest, newest);
  }
}

function requirePackage(
  files: PlannedFiles,
  project: string,
  name: string,
  oldest: string,
  newest = oldest,
): void {
  const range = `^${newest}`;
  const manifests = manifestsOf(files, project);
  const holder = manifests.find(({ manifest }) => has(manifest, name));
  const installed = name === "ledge" ? null : installedVersion(project, name);
  if (holder === undefined) {
    const chosen = manifests.find(({ manifest }) => has(manifest, "wrangler")) ?? manifests.at(-1);
    if (chosen === undefined || installed !== null) return;
    files.edit(chosen.path, (text) => addDependencies(text, { [name]: range }));
    return;
  }
  const [declared = newest] =
    /\d+\.\d+\.\d+/.exec(dependencyVersion(holder.manifest, name) ?? "") ?? [];
  if (name === "ledge" || compareVersions(installed ?? declared, oldest) >= 0) return;
  files.edit(holder.path, (text, note) => raiseDependency(text, name, range, note));
}

function has(manifest: Manifest, name: string): boolean {
  return dependencyVersion(manifest, name) !== undefined;
}

/** The manifests of a project, from its folder to the folder of the command. */
function manifestsOf(files: PlannedFiles, project: string) {
  return foldersUpTo(project, files.folder).flatMap((each) => {
    const path = join(each, "package.json");
    const text = files.read(path);
    return text === null ? [] : { path, manifest: parseManifest(text) };
  });
}

/** `null` for a package that is not installed */
function installedVersion(project: string, name: string): string | null {
  const paths = foldersUpTo(project, sep).map((each) =>
    join(each, "node_modules", name, "package.json"),
  );
  const found = paths.find((path) => existsSync(path));
  if (found === undefined) return null;
  return (JSON.parse(readFileSync(found, "utf8")) as { version: string }).version;
}
