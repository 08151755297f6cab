/** House rules that a program can check, and the files of the published package. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { linksOf, read, repositoryFiles, root } from "./support/pages.ts";

const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

const files = repositoryFiles();
const sources = files.filter((file) => file.endsWith(".ts"));
const filesBelow = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));

describe("the repository", () => {
  it("has no test that is skipped, focused or still to be written", () => {
    const tests = sources.filter((file) => file.startsWith("test/") || file.endsWith(".test.ts"));
    const marks = /\b(?:it|test|describe)\.(?:skip|only|todo)\b/;
    expect(tests.filter((file) => marks.test(read(file)))).toEqual([]);
  });

  it("has a `Deviation:` comment for each row of docs/deviations.md, and a row for each comment", () => {
    const inCode = sources
      .filter((file) => /^(?:src|worker)\//.test(file))
      .flatMap((file) => (read(file).match(/Deviation:/g) ?? []).map(() => file));
    const rows = read("docs/deviations.md").matchAll(/^\| .* \| `((?:src|worker)\/[^`]+)` +\|$/gm);
    expect(Array.from(rows, ([, file]) => file as string).sort()).toEqual(inCode.sort());
  });
});

describe("the package", () => {
  let packed: string[];
  beforeAll(() => {
    const [report] = JSON.parse(run("npm", "pack", "--dry-run", "--json")) as [
      { files: { path: string }[] },
    ];
    packed = report.files.map(({ path }) => path);
  });

  it("loads Miniflare and wrangler by require(), which is faster than import", () => {
    const built = readdirSync(join(root, "dist")).filter((file) => file.endsWith(".js"));
    expect(built.length).toBeGreaterThan(10);
    const importing = /(?:\bfrom|\bimport\(?)\s*"(?:miniflare|wrangler)"/;
    expect(built.filter((file) => importing.test(read(`dist/${file}`)))).toEqual([]);
  });

  it("has the licence of each package whose code is a part of it", () => {
    const [introduction, ...notices] = read("dist/THIRD-PARTY-NOTICES").split(/\n={80}\n\n/);
    expect(introduction).toContain("contain code of the packages below");
    const { devDependencies } = JSON.parse(read("package.json")) as {
      devDependencies: Record<string, string>;
    };
    const bundled = [
      "@noble/hashes",
      "@speed-highlight/core",
      "lucide",
      "open",
      "preact",
      "valibot",
    ];
    const titles = notices.map((notice) => notice.replace(/ \([^]*/, ""));
    // The others are dependencies of `open`.
    expect(
      titles.filter((title) => devDependencies[title.replace(/ .*/, "")] !== undefined),
    ).toEqual(bundled.map((name) => `${name} ${devDependencies[name]}`));
    expect(notices.filter((notice) => notice.length < 500)).toEqual([]);
  });

  it("holds the files that its entry points need, its documentation, and no other", () => {
    // What the entry points import is divided into chunks as the bundler likes.
    const chunks = new Set<string>();
    const follow = (file: string): void => {
      for (const [, chunk] of read(`dist/${file}`).matchAll(
        /(?:from|import\(?)\s*"\.\/([^"]+)"/g,
      )) {
        // Some of the text is code for workerd, whose modules are others.
        if (chunks.has(chunk as string) || !existsSync(join(root, "dist", chunk as string)))
          continue;
        chunks.add(chunk as string);
        follow(chunk as string);
      }
    };
    const entries = [
      "cli.js",
      // The tests use it.
      "commands.js",
      "dns-listener.js",
      "index.js",
      "playwright.js",
      "plugin.js",
      "test.js",
      "vite.js",
      "vitest.js",
      "vitest-runner.js",
    ];
    for (const entry of entries) follow(entry);
    const expected = [
      "LICENSE",
      "README.md",
      "package.json",
      "dist/THIRD-PARTY-NOTICES",
      "dist/config-schema-toml.json",
      "dist/config-schema.json",
      "dist/index.d.ts",
      // Types that several entries share.
      "dist/node.d.ts",
      "dist/playwright.d.ts",
      "dist/plugin.d.ts",
      "dist/test.d.ts",
      "dist/vite.d.ts",
      "dist/vitest.d.ts",
      "dist/types/index.d.ts",
      "dist/types/store.d.ts",
      ...filesBelow("dist/explorer"),
      "dist/workerd/dns-api-proxy.js",
      "dist/workerd/dns-worker.js",
      "dist/workerd/edge-status.js",
      "dist/workerd/edge-worker.js",
      "dist/workerd/store-binding.js",
      "dist/workerd/store-bucket.js",
      "dist/workerd/store-namespace.js",
      "dist/workerd/store-remote-binding.js",
      ...Array.from(new Set([...entries, ...chunks]), (file) => `dist/${file}`),
    ];
    const others = packed.filter((path) => !isPage(path) || path === "README.md");
    expect(others.sort()).toEqual(expected.sort());
    expect(packed.filter((path) => isPage(path) && !files.includes(path))).toEqual([]);
  });

  it("has types for compilers that do not read `exports`", () => {
    const { exports, types, typesVersions } = JSON.parse(read("package.json")) as {
      exports: Record<string, { types?: string }>;
      types: string;
      typesVersions: { "*": { "*": string[] } };
    };
    const places = typesVersions["*"]["*"];
    for (const [subpath, { types: expected }] of Object.entries(exports)) {
      if (expected === undefined) continue;
      // The compiler looks for the path of the package's own types in these places, too.
      const wanted = (subpath === "." ? types : subpath).replace("./", "");
      const found = [...places, "*"].map((place) => place.replace("*", wanted));
      expect(`./${found.find((path) => packed.includes(path))}`).toBe(expected);
    }
  });

  it("holds the page of the explorer, which loads nothing else and has less than 100 kB", () => {
    const pageFiles = filesBelow("dist/explorer");
    expect(pageFiles).toContain("dist/explorer/index.html");
    const compressed = pageFiles.map((path) => gzipSync(readFileSync(join(root, path))).length);
    expect(compressed.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(100_000);
    // The policy of the page refuses addresses elsewhere (`src/explorer/server/page-files.ts`).
    const addresses = read("dist/explorer/index.html").matchAll(/(?:src|href)="([^"]*)"/g);
    for (const [, address] of addresses) expect(address).toMatch(/^\/assets\//);
  });

  it("has the files to which its pages link", () => {
    const isPacked = (path: string): boolean =>
      packed.includes(path) || packed.some((each) => each.startsWith(`${path}/`));
    const missing = packed
      .filter((path) => path.endsWith(".md"))
      .flatMap((page) => linksOf(read(page)).map((link) => ({ page, link })))
      .filter(({ page, link }) => !isPacked(join(dirname(page), link).replace(/\/$/, "")));
    expect(packed).toContain("README.md");
    expect(missing).toEqual([]);
  });
});

/** Files that the package has for its readers. */
function isPage(path: string): boolean {
  return /^(?:docs|examples|bench)\//.test(path) || /^[A-Z]+\.md$|^openapi\.yaml$/.test(path);
}
