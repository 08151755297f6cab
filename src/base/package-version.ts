/**
 * The versions of the packages that Ledge works with.
 *
 * A version older than the oldest tested version is refused, because its interfaces are others. A
 * version newer than the newest tested version probably works: a warning names both versions, once.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { isNews } from "./notices.ts";
import { testedVersions } from "./tested-versions.ts";
import { UserError } from "./user-error.ts";

export type TestedPackage = keyof typeof testedVersions;

/**
 * @param folder of the package or of the project, for the message
 * @throws UserError for a version that is too old
 */
export function checkVersion(name: TestedPackage, version: string, folder: string): void {
  const [oldest, newest] = testedVersions[name];
  if (compareVersions(version, oldest) < 0) {
    throw new UserError(
      `Ledge needs ${name} ${oldest} or later, and ${folder} has ${version}. ` +
        `Update it: npm install --save-dev ${name}@${newest}`,
    );
  }
  if (compareVersions(version, newest) > 0) warnOfNewer(name, version, folder);
}

/** A view of an object in which a missing part is an error instead of `undefined`. */
export function requireParts<Parts extends object>(parts: Parts, owner: string): Parts {
  return new Proxy(parts, {
    get(target, name) {
      const part: unknown = Reflect.get(target, name);
      if (part !== undefined) return part;
      const [, newest] = testedVersions.wrangler;
      throw new UserError(
        `${owner} has no ${String(name)}, which Ledge uses. Install wrangler@${newest}, with which ` +
          "Ledge was tested, or a newer version of ledge.",
      );
    },
  });
}

let isWarned = false;

/** The packages of a project are released together, so one warning stands for all, once a version. */
function warnOfNewer(name: TestedPackage, version: string, folder: string): void {
  const isKnown = !isNews(`${name} ${version}`, folder) || isWarned;
  isWarned = true;
  if (isKnown) return;
  // A Miniflare comes with its wrangler.
  const tool = name === "miniflare" ? "wrangler" : name;
  console.warn(
    `Ledge was tested with ${name} up to ${testedVersions[name][1]}, and this is ${version}, which probably ` +
      "works. This is said once. If something fails: npm install --save-dev ledge@latest, or " +
      `${tool}@${testedVersions[tool][1]}.`,
  );
}

/** By the precedence of semver.org, for versions such as 5.20261104.0-beta. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [parseVersion(a), parseVersion(b)];
  for (const [index, part] of first.numbers.entries()) {
    const difference = part - (second.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (first.prerelease === second.prerelease) return 0;
  // A release comes after its prereleases.
  if (first.prerelease === "") return 1;
  if (second.prerelease === "") return -1;
  return first.prerelease < second.prerelease ? -1 : 1;
}

function parseVersion(version: string): { numbers: number[]; prerelease: string } {
  const [, numbers = "", prerelease = ""] = /^([\d.]*)(?:-([^+]*))?/.exec(version) ?? [];
  return { numbers: numbers.split(".").map(Number), prerelease };
}

/** `null` for a module outside of a package */
export function packageOfModule(
  path: string,
): { readonly name: string; readonly version: string; readonly folder: string } | null {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      const text = readFileSync(join(folder, "package.json"), "utf8");
      const { name, version } = JSON.parse(text) as { name?: string; version?: string };
      // A package can have further manifests, which only say how Node reads a folder.
      if (name !== undefined && version !== undefined) return { name, version, folder };
    } catch {
      continue;
    }
  }
  return null;
}

/** The folder of the wrangler that Ledge uses, which this does not load; `null` without wrangler. */
export function wranglerFolder(): string | null {
  try {
    return dirname(createRequire(import.meta.url).resolve("wrangler/package.json"));
  } catch {
    return null;
  }
}

interface FoundPackage {
  readonly version: string;
  /** The path of the module that an import of the package loads */
  readonly entry: string;
  /** Ranges of versions, by the names of packages. */
  readonly peers: Readonly<Record<string, string>>;
}

/** Looks into each `node_modules`, because a package may export neither its manifest nor a CommonJS entry. */
export function findPackage(folder: string, packageName: string): FoundPackage | null {
  const { resolve } = createRequire(join(folder, "package.json"));
  for (const modules of resolve.paths(packageName) ?? []) {
    const path = join(modules, packageName);
    try {
      const text = readFileSync(join(path, "package.json"), "utf8");
      const { version, main, peerDependencies } = JSON.parse(text) as {
        version: string;
        main?: string;
        peerDependencies?: Record<string, string>;
      };
      return { version, entry: join(path, main ?? "index.js"), peers: peerDependencies ?? {} };
    } catch {
      continue;
    }
  }
  return null;
}

/** Whether a range such as `^4.1.0 || ^5.0.0` has no version with this major number. */
export function isOtherMajor(version: string, range: string): boolean {
  const majors = range.split("||").map((part) => /^\s*[~^]?(\d+)\.[\d.]+\s*$/.exec(part)?.[1]);
  // Ranges of other forms can have any version.
  return majors.every((major) => major !== undefined && major !== version.split(".")[0]);
}

export function packageVersion(): string {
  const path = new URL(import.meta.resolve("ledge/package.json"));
  return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
}
