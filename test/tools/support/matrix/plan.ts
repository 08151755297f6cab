/** What the matrix tries: which versions are installed together, and what runs on them. */
import { readFileSync } from "node:fs";
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
  /** Whether `--newest` runs the trial. */
  readonly isNewest: boolean;
}

const allChecks = Object.keys(checks) as CheckName[];
/** The versions of the repository (docs/decisions/0006-exact-tools.md). */
const { vite = "", vitest = "" } = manifest.devDependencies;

const newest = {
  // npm installs a second and a third Miniflare: each of these depends on an exact version.
  wrangler: "latest",
  "@cloudflare/vite-plugin": "latest",
  "@cloudflare/vitest-plugin": "latest",
  vite,
  vitest,
};

const pool = "@cloudflare/vitest-pool-workers";
const nodeMin = `${manifest.engines.node.replace(">=", "")}.0`;

export const trials: readonly Trial[] = [
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
    isNewest: false,
  },
  {
    name: "pool 0.23",
    node: null,
    packages: { [pool]: "0.23.0", vite, vitest },
    checks: ["vitest"],
    isNewest: false,
  },
  {
    name: "plugin 1.0",
    node: null,
    packages: { "@cloudflare/vitest-plugin": "1.0.0", vite, vitest },
    checks: ["vitest"],
    isNewest: false,
  },
  { name: "newest on Node 22", node: "22", packages: newest, checks: allChecks, isNewest: false },
  { name: "newest", node: null, packages: newest, checks: allChecks, isNewest: true },
];
