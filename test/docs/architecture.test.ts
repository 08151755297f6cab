/** `architecture.json` says which folder may import which. */
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import {
  circles,
  readFolderRules,
  readGraph,
  wrongDirections,
  wrongRuntimes,
  type FolderRule,
} from "./support/import-graph.ts";
import { read, repositoryFiles } from "./support/pages.ts";

const files = repositoryFiles();
const sources = files.filter((file) => /^(?:src|worker)\/.*\.tsx?$/.test(file));
const isTest = (file: string) => /\.test\.tsx?$/.test(file);
const withoutTests = sources.filter((file) => !isTest(file));
const graph = readGraph(withoutTests, read, { withTypes: true });
const rules = readFolderRules(read("test/docs/architecture.json"));

describe("the sources", () => {
  it("are in folders that the data file lists, and every folder of the data file has sources", () => {
    expect(rules.length).toBeGreaterThan(15);
    const empty = rules.filter(({ folder }) => !sources.some((file) => file.startsWith(folder)));
    expect(empty).toEqual([]);
  });

  it("are in folders whose allowed imports form no circle", () => {
    expect(circles(new Map(rules.map(({ folder, mayImport }) => [folder, mayImport])))).toEqual([]);
  });

  it("import only what the data file allows", () => {
    expect(wrongDirections(graph, rules)).toEqual([]);
  });

  it("load no module of another runtime", () => {
    const loaded = readGraph(withoutTests, read, { withTypes: false });
    expect(wrongRuntimes(loaded, rules)).toEqual([]);
  });

  it("import each other in no circle", () => {
    expect(circles(graph)).toEqual([]);
  });

  it("have names in kebab-case that say something, and no name three times", () => {
    const odd = sources.filter((file) => !/^[a-z0-9-]+(?:\.[a-z]+)*\.tsx?$/.test(basename(file)));
    expect(odd).toEqual([]);
    expect(files.filter((file) => /(^|\/)(utils?|helpers?|misc|common)\./.test(file))).toEqual([]);
    const names = sources.map((file) => basename(file)).filter((name) => name !== "index.ts");
    const often = names.filter((name) => names.filter((other) => other === name).length > 2);
    expect([...new Set(often)]).toEqual([]);
  });

  it("have at most 500 lines a file", () => {
    const typescript = files.filter((file) => /\.tsx?$/.test(file));
    expect(typescript.filter((file) => read(file).split("\n").length > 500)).toEqual([]);
  });
});

describe("the words", () => {
  // Metaphors of early versions. The field's words: endpoint, owner, client, run, test session, fault.
  const retired =
    /\b(?:doors?|guests?|rehears\w*|interference|goesOn|keepers?|lanes?|boots?|nobody|whoever|somebody)\b/i;
  /** Values that tests send, and the file that lists the words. */
  const exceptions = /"nobody"|token-that-nobody-has/;
  const list = "test/docs/architecture.test.ts";

  it("are the field's words, in code, comments and documentation", () => {
    const texts = files.filter((file) => /\.(?:tsx?|js|css|md|sh|toml|ya?ml|html)$/.test(file));
    expect(texts.length).toBeGreaterThan(500);
    const found = texts
      .filter((file) => file !== list)
      .flatMap((file) =>
        read(file)
          .split("\n")
          .map((line) => `${file}: ${line.trim()}`),
      )
      .filter((line) => retired.test(line) && !exceptions.test(line));
    expect(found).toEqual([]);
  });
});

describe("the rules", () => {
  const planted: FolderRule[] = [
    { folder: "src/base", runtime: "anywhere", mayImport: [] },
    { folder: "src/cli", runtime: "Node", mayImport: ["src/base"] },
  ];
  const inCli: [string, string[]] = ["src/cli/a.ts", ["src/base/b.ts", "node:fs"]];

  it("refuse an import against the direction", () => {
    const upward = new Map([inCli, ["src/base/b.ts", ["src/cli/a.ts"]]]);
    expect(wrongDirections(upward, planted)).toEqual([
      "src/base/b.ts imports src/cli/a.ts, but src/base may not import src/cli.",
    ]);
  });

  it("refuse a folder that the data file does not list", () => {
    expect(wrongDirections(new Map([["src/new/a.ts", []]]), planted)).toEqual([
      "src/new/a.ts is in no folder of architecture.json.",
    ]);
  });

  it("refuse a circle", () => {
    const circle = new Map([
      ["src/base/a.ts", ["src/base/b.ts"]],
      ["src/base/b.ts", ["src/base/c.ts"]],
      ["src/base/c.ts", ["src/base/a.ts"]],
    ]);
    expect(circles(circle)).toEqual([
      "Circle: src/base/a.ts → src/base/b.ts → src/base/c.ts → src/base/a.ts.",
    ]);
  });

  it("refuse a module of another runtime, loaded through a chain", () => {
    const chain = new Map([
      ["src/base/a.ts", ["src/base/b.ts"]],
      ["src/base/b.ts", ["node:fs"]],
    ]);
    expect(wrongRuntimes(chain, planted)).toEqual([
      "src/base runs in anywhere: src/base/a.ts → src/base/b.ts → node:fs.",
      "src/base runs in anywhere: src/base/b.ts → node:fs.",
    ]);
  });
});
