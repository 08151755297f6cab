/**
 * `npm install --save-dev ledge` in projects that have other versions of the tools than Ledge needs: npm must
 * not refuse the package, and the message of a run says what to install.
 */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Installation } from "./checks.ts";
import { Program } from "./program.ts";

const projects = {
  "vitest 5": { vitest: "^5.1.0" },
  "an old pool": { vitest: "^3.2.0", "@cloudflare/vitest-pool-workers": "^0.8.0" },
  "an old wrangler": { wrangler: "4.100.0" },
  "wrangler 3": { wrangler: "^3.100.0" },
  "no tools": {},
};

export const peerChecks = {
  "`npm install ledge` beside other versions": async (installation: Installation) => {
    for (const [name, packages] of Object.entries(projects)) {
      const folder = makeProject(installation, name.replace(/\W+/g, "-"), packages);
      // npm looks for conflicts when it makes the lock file, and downloads nothing for that.
      await npm(folder, "--package-lock-only");
    }
  },

  "`ledge/vitest` with vitest 5": async (installation: Installation) => {
    const packages = { vitest: "^5.1.0", "@cloudflare/vitest-plugin": "latest", vite: "^8.3.0" };
    const folder = makeProject(installation, "vitest-5", packages);
    writeFileSync(
      join(folder, "vitest.config.mjs"),
      'import { ledge } from "ledge/vitest";\nexport default { plugins: [ledge()] };\n',
    );
    await npm(folder, "--legacy-peer-deps");
    const program = join(folder, "node_modules/vitest/vitest.mjs");
    // If this fails because the latest pool runs on vitest 5, docs/testing.md is out of date.
    await assert.rejects(
      new Program(installation.node, [program, "run"], folder).end(),
      /runs tests of vitest \^4\S*, and \S+ has vitest 5\.\S+ Install vitest@4/,
    );
  },
};

/** A project outside of the installation, whose packages npm would find otherwise. */
function makeProject(
  installation: Installation,
  name: string,
  packages: Readonly<Record<string, string>>,
): string {
  const folder = `${installation.folder}-peers-${name}`;
  const { overrides, allowScripts, devDependencies } = JSON.parse(
    readFileSync(join(installation.folder, "package.json"), "utf8"),
  ) as Record<"overrides" | "allowScripts" | "devDependencies", Record<string, string>>;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const all = { ...packages, ledge: devDependencies["ledge"] };
  const manifest = { name, private: true, overrides, allowScripts, devDependencies: all };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  return folder;
}

async function npm(folder: string, ...options: string[]): Promise<void> {
  const args = ["install", "--no-audit", "--no-fund", "--loglevel=error", ...options];
  await new Program("npm", args, folder).end();
}
