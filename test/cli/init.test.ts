/** `ledge init`: a project that compiles, in an empty folder. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../dist/index.js";
import { generateTypes } from "../../src/cli/generate-types.ts";
import { install, run } from "../support/project.ts";
import { temporaryFolder } from "../support/store.ts";

const files = [
  ".gitignore",
  "README.md",
  "package.json",
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

interface Description {
  readonly name: string;
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
}

function read(path: string | URL): Description {
  return JSON.parse(readFileSync(path, "utf8")) as Description;
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
      expect.arrayContaining([".wrangler/", ".dev.vars*", ".ledge-*.wrangler.json"]),
    );
    expect(readConfig({ folder })).toMatchObject({
      table: { name: "my-photos", main: "src/index.ts" },
      buckets: [{ binding: "FILES", bucketName: "files" }],
    });

    install(folder);
    const { path, content } = await generateTypes({ folder });
    writeFileSync(path, content);
    const compiled = await run(folder, "tsc", "-p", ".");
    expect(compiled.out).toBe("");
    expect(compiled.code).toBe(0);
  });

  it("depends on the versions that this package is tested with", async () => {
    const folder = temporaryFolder();
    await run(folder, "ledge", "init", "--name", "photos");
    const made = read(join(folder, "package.json"));
    const ours = read(new URL("../../package.json", import.meta.url));
    expect(made.name).toBe("photos");
    expect(made.devDependencies).toEqual({
      ...Object.fromEntries(
        ["@cloudflare/vitest-pool-workers", "miniflare", "typescript", "vitest", "wrangler"].map(
          (name) => [name, ours.devDependencies[name]],
        ),
      ),
      ledge: ours.version,
    });
  });

  it("changes nothing in a folder that has files, and names them", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, ".git"));
    for (const name of ["a", "b", "c", "d", "e", "f", "g"]) writeFileSync(join(folder, name), "");
    const { code, error } = await run(folder, "ledge", "init");
    expect(code).toBe(1);
    expect(error).toContain("is not empty: it has a, b, c, d, e and 2 more.");
    expect(filesOf(folder)).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
  });

  it("refuses an invalid name, and a file in place of the folder", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "file"), "");
    const named = await run(folder, "ledge", "init", "new", "--name", "My Photos");
    expect(named.error).toContain('"My Photos" is not a name for a project.');
    const onFile = await run(folder, "ledge", "init", "file");
    expect(onFile.error).toContain("is a file: name a folder");
    expect(filesOf(folder)).toEqual(["file"]);
  });
});
