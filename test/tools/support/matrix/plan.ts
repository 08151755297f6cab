/** What the matrix tries: which versions are installed together, and what runs on them. */
import { readFileSync } from "node:fs";
import { compareVersions } from "../../../../src/base/package-version.ts";
import { testedVersions } from "../../../../src/base/tested-versions.ts";
import { checks, type CheckName } from "./checks.ts";

interface Manifest {
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly engines: { readonly node: string };
}

const manifest = JSON.parse(
  readFileSync(new URL("../../../../package.json", import.meta.url), "utf8"),
) as Manifest;

/** A column of the table. Trials with the same packages share an installation. */
export interface Trial {
  readonly name: string;
  /** A version or a range of Node; `null` is the Node of the repository. */
  readonly node: string | null;
  readonly packages: Readonly<Record<string, string>>;
  readonly checks: readonly CheckName[];
}

const allChecks = Object.keys(checks) as CheckName[];
/** The versions of the repository (docs/decisions/0006-exact-tools.md). */
const { vite = "", vitest = "" } = manifest.devDependencies;

/** npm installs a second and a third Miniflare: each of these depends on an exact version. */
const moving = ["wrangler", "@cloudflare/vite-plugin", "@cloudflare/vitest-plugin"] as const;

const pool = "@cloudflare/vitest-pool-workers";
const nodeMin = `${manifest.engines.node.replace(">=", "")}.0`;

/** @param versionOf the version of a tool in the newest columns */
export function trialsWith(versionOf: (name: (typeof moving)[number]) => string): Trial[] {
  const newest = {
    ...Object.fromEntries(moving.map((name) => [name, versionOf(name)])),
    vite,
    vitest,
  };
  return [
    {
      name: "oldest",
      node: nodeMin,
      packages: {
        wrangler: "4.124.0",
        "@cloudflare/vite-plugin": "1.53.0",
        [pool]: "0.22.0",
        vite,
        vitest: "4.1.0",
      },
      checks: allChecks,
    },
    {
      name: "pool 0.23",
      node: null,
      packages: { [pool]: "0.23.0", vite, vitest },
      checks: ["vitest"],
    },
    {
      name: "plugin 1.0",
      node: null,
      packages: { "@cloudflare/vitest-plugin": "1.0.0", vite, vitest },
      checks: ["vitest"],
    },
    { name: "newest on Node 22", node: "22", packages: newest, checks: allChecks },
    { name: "newest", node: null, packages: newest, checks: allChecks },
  ];
}

/** The newest version of a tool that the package was tested with. */
export function newestTested(name: (typeof moving)[number]): string {
  return testedVersions[name][1];
}

/** The tools of which npm has a later version than the newest tested version. */
export function laterTools(latestOf: (name: string) => string): string[] {
  return moving
    .filter((name) => compareVersions(latestOf(name), newestTested(name)) > 0)
    .map((name) => `${name} ${latestOf(name)}`);
}
