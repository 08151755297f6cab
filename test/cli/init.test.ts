/** `ledge init`: a project that compiles and passes its tests, in an empty folder. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../dist/index.js";
import { testedVersions } from "../../src/base/tested-versions.ts";
import { generateTypes } from "../../src/cli/generate-types.ts";
import { DevProcess, ledge } from "../support/dev-process.ts";
import { runInProcess } from "../support/in-process-command.ts";
import { install, run } from "../support/project.ts";
import { temporaryFolder } from "../support/store.ts";

const files = [
  ".gitignore",
  "README.md",
  "package.json",
  "seed/buckets/FILES/hello.txt",
  "src/index.ts",
  "test/index.test.ts",
  "tsconfig.json",
  "vitest.config.ts",
  "wrangler.jsonc",
];

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}

function write(folder: string, contents: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(contents)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

interface Description {
  readonly name: string;
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

function read(path: string | URL): Description {
  return JSON.parse(readFileSync(path, "utf8")) as Description;
}

/** The command `script` of util-linux, which makes a terminal. */
const terminal = "/usr/bin/script";

/**
 * `@cloudflare/vitest-plugin` is the renamed pool. This repository has the pool under its old name,
 * and `npx node test/tools/matrix.ts` installs the new name.
 */
function provideNewPool(folder: string): void {
  const scope = join(folder, "node_modules/@cloudflare");
  const installed = realpathSync(scope);
  rmSync(scope);
  mkdirSync(join(scope, "vitest-plugin"), { recursive: true });
  for (const name of readdirSync(installed)) {
    if (name !== "vitest-plugin") symlinkSync(join(installed, name), join(scope, name));
  }
  const standIn: Record<string, string> = {
    "package.json": JSON.stringify({
      name: "@cloudflare/vitest-plugin",
      version: "1.0.0",
      type: "module",
      main: "index.mjs",
      exports: { ".": "./index.mjs", "./types": { types: "./types.d.ts" } },
    }),
    "index.mjs": 'export * from "@cloudflare/vitest-pool-workers";',
    "types.d.ts": '/// <reference types="@cloudflare/vitest-pool-workers/types" />\n',
  };
  for (const [name, text] of Object.entries(standIn)) {
    writeFileSync(join(scope, "vitest-plugin", name), text);
  }
}

// The compiler is slow on a busy machine.
describe("ledge init", { timeout: 120_000 }, () => {
  it("makes a project with a valid configuration and code that compiles", async () => {
    const parent = temporaryFolder();
    const { code, out } = await run(parent, "ledge", "init", "My Photos");
    const folder = join(parent, "My Photos");
    expect(code).toBe(0);
    expect(out).toContain('Made the project "my-photos":');
    expect(out).toContain("  cd My Photos\n  npm install\n  npm run dev\n");
    expect(filesOf(folder)).toEqual(files);
    // The state, secrets, and the configuration files that Ledge derives for wrangler.
    expect(readFileSync(join(folder, ".gitignore"), "utf8").split("\n")).toEqual(
      expect.arrayContaining([".wrangler/", ".dev.vars*", ".ledge-*"]),
    );
    expect(readConfig({ folder })).toMatchObject({
      table: { name: "my-photos", main: "src/index.ts" },
      buckets: [{ binding: "FILES", bucketName: "my-photos-files" }],
      state: { seed: join(folder, "seed") },
    });

    install(folder);
    provideNewPool(folder);
    const { path, content } = await generateTypes({ folder });
    writeFileSync(path, content);
    const compiled = await run(folder, "tsc", "-p", ".");
    expect(compiled.out).toBe("");
    expect(compiled.code).toBe(0);
    const tested = await run(folder, "vitest", "run");
    expect(tested.out).toContain("4 passed");
    expect(tested.code).toBe(0);
  });

  it("depends on the newest versions that this package is tested with", async () => {
    const folder = temporaryFolder();
    await runInProcess(folder, ["init", "--name", "photos"]);
    const made = read(join(folder, "package.json"));
    const ours = read(new URL("../../package.json", import.meta.url));
    expect(made.name).toBe("photos");
    expect(made.devDependencies).toEqual({
      "@cloudflare/vitest-plugin": `^${testedVersions["@cloudflare/vitest-plugin"][1]}`,
      ledge: `^${ours.version}`,
      typescript: `^${ours.devDependencies["typescript"]}`,
      vitest: `^${testedVersions.vitest[1]}`,
      wrangler: `^${testedVersions.wrangler[1]}`,
    });
  });

  it("makes a project whose deploy has the bucket", async () => {
    const folder = temporaryFolder();
    await runInProcess(folder, ["init", "--name", "photos"]);
    install(folder);
    const { scripts } = read(join(folder, "package.json"));
    const [program = "", ...args] = (scripts["deploy"] ?? "").split(" ");
    const deployed = await run(folder, program, ...args, "--dry-run", "--outdir", "out");
    expect(deployed.out).toMatch(/env\.FILES \(photos-files\) +R2 Bucket/);
    expect(readFileSync(join(folder, "README.md"), "utf8")).toContain(
      "npx wrangler r2 bucket create photos-files\n    npm run deploy\n",
    );
  });

  it("changes nothing in a folder that has files and is no project, and names the files", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, ".git"));
    for (const name of ["a", "b", "c", "d", "e", "f", "g"]) writeFileSync(join(folder, name), "");
    const { code, error } = await runInProcess(folder, ["init"]);
    expect(code).toBe(1);
    expect(error).toContain("is neither empty nor a project: it has a, b, c, d, e and 2 more,");
    expect(filesOf(folder)).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
  });

  it("adds what is missing to a folder in which npm has just installed this package", async () => {
    const folder = temporaryFolder();
    const manifest = {
      name: "photos",
      scripts: { test: 'echo "Error: no test specified" && exit 1' },
      devDependencies: { ledge: "^0.1.0" },
    };
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, null, 2));
    writeFileSync(join(folder, "package-lock.json"), "{}");
    writeFileSync(join(folder, "README.md"), "mine");

    const shown = await runInProcess(folder, ["init"]);
    expect(shown.code).toBe(1);
    expect(shown.out).toContain("new file wrangler.jsonc\n+{");
    expect(shown.out).toContain('+    "test": "vitest run",');
    expect(shown.error).toBe(
      "No file was changed: there is no terminal to ask. Make the changes with --yes.\n",
    );
    expect(filesOf(folder)).toEqual(["README.md", "package-lock.json", "package.json"]);

    const made = await runInProcess(folder, ["init", "--yes"]);
    expect(made.code).toBe(0);
    expect(made.out).toContain("Changed 8 files.\n\nNext:\n  npm install\n  npm run dev\n");
    expect(filesOf(folder)).toEqual([...files, "package-lock.json"].toSorted());
    expect(readFileSync(join(folder, "README.md"), "utf8")).toBe("mine");
    expect(read(join(folder, "package.json"))).toMatchObject({
      scripts: { dev: "ledge dev", test: "vitest run" },
      devDependencies: { ledge: "^0.1.0", wrangler: expect.any(String) as string },
    });

    const again = await runInProcess(folder, ["init"]);
    expect(again).toMatchObject({ code: 0, out: "Nothing to do: the project is set up.\n" });
  });

  it.runIf(existsSync(terminal)).each([
    ["y", /Changed 3 files\./, 0],
    ["n", /No file was changed\./, 1],
  ])("asks on a terminal, and %s is an answer", async (answer, message, code) => {
    const folder = temporaryFolder();
    const config = `[[r2_buckets]]\nbinding = "A"\nbucket_name = "a"\n`;
    writeFileSync(join(folder, "wrangler.toml"), config);
    writeFileSync(join(folder, "package.json"), "{}");
    const command = `"${process.execPath}" "${ledge}" init`;
    const session = new DevProcess(terminal, ["-qefc", command, "/dev/null"], folder);
    await session.waitForOutput(/Make these changes of 3 files\? \[y\/N\]/);
    session.child.stdin?.write(`${answer}\n`);
    expect(await session.exited).toBe(code);
    expect(session.output).toMatch(message);
    expect(readFileSync(join(folder, "wrangler.toml"), "utf8") === config).toBe(code === 1);
  });

  it("edits the tests of a project, raises old versions, and names its package manager", async () => {
    const folder = temporaryFolder();
    const buckets = [{ binding: "A", bucket_name: "a" }];
    const config = JSON.stringify({ name: "photos", main: "index.ts", r2_buckets: buckets });
    write(folder, {
      "package.json": JSON.stringify({
        packageManager: "pnpm@11.5.2",
        scripts: { "dev:local": "wrangler dev", test: "vitest run" },
        devDependencies: {
          "@cloudflare/vitest-pool-workers": "^0.16.4",
          vitest: "^4.1.6",
          wrangler: "^4.90.1",
        },
      }),
      "wrangler.jsonc": config,
      "test/wrangler.test.jsonc": config,
      "vitest.config.ts": `import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
        const wrangler = { configPath: "./test/wrangler.test.jsonc" };
        export default { plugins: [cloudflareTest({ wrangler })] };`,
    });
    const { code, out } = await runInProcess(folder, ["init", "--yes"]);
    expect(code).toBe(0);
    expect(out).toContain("Tests are isolated now");
    expect(out).toContain("ledge({ isolate: false }) keeps the old way");
    expect(out).toContain("Next:\n  pnpm install\n  pnpm run dev:local\n");
    for (const path of ["wrangler.jsonc", "test/wrangler.test.jsonc"]) {
      expect(readFileSync(join(folder, path), "utf8")).toContain('"store_buckets"');
    }
    expect(read(join(folder, "package.json")).devDependencies).toMatchObject({
      "@cloudflare/vitest-pool-workers": `^${testedVersions["@cloudflare/vitest-pool-workers"][1]}`,
      vitest: "^4.1.6",
      wrangler: `^${testedVersions.wrangler[1]}`,
    });
    const again = await runInProcess(folder, ["init", "--yes"]);
    expect(again.out).toBe("Nothing to do: the project is set up.\n");
  });

  it("edits every configuration of vitest, or names it with the reason", async () => {
    const folder = temporaryFolder();
    const bucket = `[[r2_buckets]]\nbinding = "A"\nbucket_name = "a"\n`;
    const pool = "@cloudflare/vitest-plugin";
    const vitest = `import { cloudflareTest } from "${pool}";
      export default { plugins: [cloudflareTest()] };`;
    const edited = [
      "vitest.config.ts",
      "packages/api/vitest.config.unit.mts",
      "packages/api/test/vitest.config.js",
      "packages/api/test/pool.ts",
    ];
    const left = {
      "packages/api/vitest.workspace.ts": `import { defineWorkersProject } from "@cloudflare/vitest-pool-workers/config";`,
      "packages/api/vitest.shared.ts": `import * as pool from "${pool}";`,
      "packages/docs/vitest.config.ts": vitest,
    };
    write(folder, {
      "package.json": JSON.stringify({ devDependencies: { wrangler: "^4.160.0" } }),
      "packages/api/package.json": JSON.stringify({
        scripts: { "test:pool": "vitest run --config test/pool.ts" },
      }),
      "packages/docs/wrangler.toml": `name = "docs"\n`,
      "packages/api/wrangler.toml": `name = "api"\n${bucket}`,
      ...Object.fromEntries(edited.map((path) => [path, vitest])),
      ...left,
    });
    const { out, error } = await runInProcess(folder, ["init", "--yes"]);
    for (const path of edited) {
      expect(out).toContain(`+++ ${path}`);
      expect(readFileSync(join(folder, path), "utf8")).toContain("plugins: [ledge()]");
    }
    for (const [path, text] of Object.entries(left)) {
      expect(error).toContain(`${path}: `);
      expect(readFileSync(join(folder, path), "utf8")).toBe(text);
    }
    expect(error).toContain('Run "ledge init" in packages/docs for it.');
    expect(read(join(folder, "package.json")).devDependencies).toHaveProperty("ledge");
  });

  it("edits a Vite project, and names the script that uses the store", async () => {
    const folder = temporaryFolder();
    write(folder, {
      "package.json": JSON.stringify({
        scripts: { build: "vite build", dev: "wrangler dev --remote", start: "react-router dev" },
        devDependencies: { wrangler: "^4.160.0", "@cloudflare/vite-plugin": "1.0.8" },
      }),
      "yarn.lock": "",
      "wrangler.toml": `name = "photos"\n[[r2_buckets]]\nbinding = "A"\nbucket_name = "a"\n`,
      "vite.config.ts": `import { cloudflare } from "@cloudflare/vite-plugin";
        export default { plugins: [cloudflare()] };`,
    });
    const { out } = await runInProcess(folder, ["init", "--yes"]);
    expect(out).toContain("This is a Vite project");
    expect(out).toContain("Next:\n  yarn install\n  yarn run start\n");
    expect(out).not.toContain("isolated");
    expect(readFileSync(join(folder, "vite.config.ts"), "utf8")).toContain("plugins: [ledge()]");
    expect(read(join(folder, "package.json")).devDependencies).toMatchObject({
      "@cloudflare/vite-plugin": `^${testedVersions["@cloudflare/vite-plugin"][1]}`,
      wrangler: "^4.160.0",
    });
  });

  it("names no command for a Vite project that it cannot edit, and its own without a script", async () => {
    const folder = temporaryFolder();
    write(folder, {
      "wrangler.toml": `name = "photos"\n[[r2_buckets]]\nbinding = "A"\nbucket_name = "a"\n`,
      "vite.config.ts": `import * as cf from "@cloudflare/vite-plugin";`,
    });
    const vite = await runInProcess(folder, ["init", "--yes"]);
    expect(vite.error).toContain('use the plugin ledge() from "ledge/vite" by hand');
    expect(vite.out).not.toContain("Next:");
    rmSync(join(folder, "vite.config.ts"));
    write(folder, {
      "package.json": JSON.stringify({ scripts: { dev: "wrangler dev --remote" } }),
      "bun.lock": "",
    });
    const other = await runInProcess(folder, ["init", "--yes"]);
    expect(other.out).toContain("Next:\n  bun install\n  bunx ledge dev\n");
  });

  it("edits the projects of a monorepo that have a bucket", async () => {
    const folder = temporaryFolder();
    const bucket = `[[r2_buckets]]\nbinding = "A"\nbucket_name = "a"\n`;
    write(folder, {
      "package.json": JSON.stringify({ devDependencies: { wrangler: "^4.160.0" } }),
      "packages/docs/wrangler.toml": `name = "docs"\n`,
      "packages/api/wrangler.toml": `name = "api"\n${bucket}`,
      "packages/web/wrangler.toml": `name = "web"\n${bucket}`,
      "packages/web/package.json": JSON.stringify({ scripts: { start: "wrangler dev" } }),
    });
    const { out } = await runInProcess(folder, ["init", "--yes"]);
    expect(out).toContain("+++ packages/api/wrangler.toml");
    expect(out).not.toContain("packages/docs");
    expect(out).toContain(
      "  npm install\n  (cd packages/api && npx ledge dev)\n  (cd packages/web && npm run start)\n",
    );
  });

  it("refuses a project that has only an example of its configuration", async () => {
    const folder = temporaryFolder();
    write(folder, { "package.json": "{}", "wrangler.example.jsonc": "{}" });
    const { code, error } = await runInProcess(folder, ["init", "--yes"]);
    expect(code).toBe(1);
    expect(error).toContain(
      `has wrangler.example.jsonc, and no wrangler.jsonc: copy wrangler.example.jsonc to wrangler.jsonc`,
    );
    expect(filesOf(folder)).toEqual(["package.json", "wrangler.example.jsonc"]);
  });

  it("refuses an invalid name, and a file in place of the folder", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "file"), "");
    const named = await runInProcess(folder, ["init", "new", "--name", "My Photos"]);
    expect(named.error).toContain('"My Photos" is not a name for a project.');
    const onFile = await runInProcess(folder, ["init", "file"]);
    expect(onFile.error).toContain("is a file: name a folder");
    expect(filesOf(folder)).toEqual(["file"]);
  });
});
