/** The table of versions in docs/stock-tools.md, the package's own list of them, and its peers. */
import { describe, expect, it } from "vitest";
import { testedVersions } from "../../src/base/tested-versions.ts";
import {
  readTable,
  versionRanges,
  withTable,
  withVersions,
} from "../tools/support/matrix/table.ts";
import { read } from "./support/pages.ts";

const page = read("docs/stock-tools.md");
const manifest = JSON.parse(read("package.json")) as {
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, { optional: boolean }>;
  engines: { node: string };
};

describe("the table of versions", () => {
  const { "": names = [], Node: nodes = [], ...rows } = readTable(page);

  it("has the oldest and the newest column, and no check that failed", () => {
    expect(names).toEqual(expect.arrayContaining(["oldest", "newest"]));
    const checks = Object.entries(rows).filter(
      ([row]) => !Object.keys(testedVersions).some((name) => row === `\`${name}\``),
    );
    expect(checks.length).toBeGreaterThan(5);
    const cells = new Set(checks.flatMap(([, outcomes]) => outcomes).filter(Boolean));
    expect([...cells].filter((cell) => !/^(?:passed|not available for \S+)$/.test(cell))).toEqual(
      [],
    );
    expect(cells).toContain("passed");
  });

  it("has the same versions as the package", () => {
    expect(versionRanges(page)).toEqual(testedVersions);
  });

  it("begins with the Node that the package needs", () => {
    expect(manifest.engines.node).toBe(`>=${nodes[names.indexOf("oldest")]?.replace(/\.0$/, "")}`);
  });
});

describe("the peers", () => {
  const { peerDependencies: peers, peerDependenciesMeta: meta } = manifest;

  it("have any version: npm refuses nothing, and Ledge says at run time which versions it needs", () => {
    expect(peers).toMatchObject(Object.fromEntries(Object.keys(testedVersions).map(anyVersion)));
    expect(Object.values(peers).filter((range) => range !== "*")).toEqual([]);
  });

  it("are optional, except wrangler, which every command of a project needs", () => {
    const { wrangler: _, ...others } = peers;
    const optional = Object.keys(others).map((name) => [name, { optional: true }] as const);
    expect(meta).toEqual(Object.fromEntries(optional));
  });
});

function anyVersion(name: string): [string, string] {
  return [name, "*"];
}

describe("the matrix", () => {
  it("writes a table from which it reads the versions again", () => {
    const written = withTable(page, [
      {
        name: "oldest",
        node: "22.13.0",
        versions: { wrangler: ["4.9.0"] },
        outcomes: { vitest: null },
      },
      {
        name: "newest",
        node: "24.0.0",
        versions: { wrangler: ["4.10.0", "4.8.0"] },
        outcomes: { vitest: "failed" },
      },
    ]);
    expect(readTable(written)).toMatchObject({
      "": ["oldest", "newest"],
      Node: ["22.13.0", "24.0.0"],
      vitest: ["passed", "failed"],
    });
    expect(withVersions(read("src/base/tested-versions.ts"), written)).toContain(
      `"wrangler": ["4.8.0", "4.10.0"]`,
    );
  });
});
