import { describe, expect, it } from "vitest";
import { dev } from "../dev.ts";
import { types } from "../types.ts";
import { editGitignore } from "./gitignore-edit.ts";
import { renderDiff } from "./line-diff.ts";
import { addDependencies, addScripts, editScripts } from "./manifest-edit.ts";
import { editTsconfig } from "./tsconfig-edit.ts";
import { editVitestConfig } from "./vitest-edit.ts";

describe("editVitestConfig()", () => {
  it("replaces the plugin of the pool, and keeps its options and other imports", () => {
    const text = `import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin'
export default { plugins: [cloudflareTest(async () => ({ wrangler: { configPath: './w.toml' } }))] }
`;
    const edited = editVitestConfig(text);
    expect(edited).toEqual({
      text: `import { readD1Migrations } from '@cloudflare/vitest-plugin'
import { ledge } from 'ledge/vitest'
export default { plugins: [ledge(async () => ({ wrangler: { configPath: './w.toml' } }))] }
`,
      notes: [],
    });
    expect(editVitestConfig(edited.text)).toEqual(edited);
  });

  it("leaves a configuration without the pool", () => {
    const text = `import { defineConfig } from "vitest/config";\nexport default defineConfig({});\n`;
    expect(editVitestConfig(text)).toEqual({ text, notes: [] });
  });

  it.each([
    [`import { defineWorkersConfig } from "@cloudflare/vitest-pool-workers/config";`, /old pool/],
    [`import * as pool from "@cloudflare/vitest-plugin";`, /not a list of names/],
  ])("says what to do by hand for %s", (text, note) => {
    const edited = editVitestConfig(text);
    expect(edited.text).toBe(text);
    expect(edited.notes).toEqual([expect.stringMatching(note)]);
  });
});

/** Edits the script of a manifest that has one. */
function edit(script: string) {
  const { text, notes } = editScripts(JSON.stringify({ scripts: { x: script } }), [dev, types]);
  return { script: (JSON.parse(text) as { scripts: { x: string } }).scripts.x, notes };
}

describe("editScripts()", () => {
  it.each([
    ["wrangler dev", "ledge dev"],
    ["wrangler types && wrangler dev --port 3000", "ledge types && ledge dev --port 3000"],
    ["npx wrangler dev src/index.ts; echo", "npx ledge dev src/index.ts; echo"],
    ["wrangler deploy", "wrangler deploy"],
    ["wrangler dev:all", "wrangler dev:all"],
  ])("turns %j into %j", (before, after) => {
    expect(edit(before)).toEqual({ script: after, notes: [] });
  });

  it("leaves a script with an option that we do not have", () => {
    expect(edit("wrangler dev --remote")).toEqual({
      script: "wrangler dev --remote",
      notes: ['the script "x" stays: There is no option --remote.'],
    });
  });
});

describe("addScripts() and addDependencies()", () => {
  it("add what is missing", () => {
    const text = `{\n  "name": "x",\n  "scripts": { "test": "echo \\"Error: no test specified\\" && exit 1", "dev": "own" },\n  "dependencies": { "wrangler": "4" }\n}\n`;
    const edited = addDependencies(addScripts(text, { dev: "ledge dev", test: "vitest run" }), {
      wrangler: "5",
      ledge: "1",
    });
    expect(JSON.parse(edited)).toEqual({
      name: "x",
      scripts: { test: "vitest run", dev: "own" },
      dependencies: { wrangler: "4" },
      devDependencies: { ledge: "1" },
    });
  });
});

describe("editTsconfig()", () => {
  it("adds the types of the store after the types of the platform", () => {
    const text = `{ "compilerOptions": { /* ours */ "types": ["@cloudflare/workers-types", "node"] } }`;
    const edited = editTsconfig(text);
    expect(edited.replace(/\s/g, "")).toBe(
      `{"compilerOptions":{/*ours*/"types":["@cloudflare/workers-types","ledge/types","node"]}}`,
    );
    expect(editTsconfig(edited)).toBe(edited);
  });

  it.each([`{}`, `{ "compilerOptions": { "types": ["./worker-configuration.d.ts"] } }`])(
    "leaves %s",
    (text) => expect(editTsconfig(text)).toBe(text),
  );
});

describe("editGitignore()", () => {
  it.each([
    [null, [], ".wrangler/\n.ledge-*.wrangler.json\n"],
    ["node_modules", [], "node_modules\n.wrangler/\n.ledge-*.wrangler.json\n"],
    [".wrangler\n", [], ".wrangler\n.ledge-*.wrangler.json\n"],
    ["a\r\n", ["**/.wrangler/**"], "a\r\n.ledge-*.wrangler.json\r\n"],
    [null, [".wrangler/\n.ledge-*.wrangler.json\n"], null],
  ])("of %j below %j is %j", (text, inherited, after) => {
    expect(editGitignore(text, inherited)).toBe(after);
  });
});

describe("renderDiff()", () => {
  it("shows changed lines with their context", () => {
    const before = ["a", "b", "c", "d", "e", "f", "g", "h"].join("\n");
    const after = before.replace("e", "E").replace("h", "h\ni");
    expect(renderDiff({ path: "x/y", before, after })).toBe(
      ["--- x/y", "+++ x/y", "…", " b", " c", " d", "-e", "+E", " f", " g", " h", "+i"].join("\n"),
    );
  });

  it("shows a new file whole", () => {
    expect(renderDiff({ path: "new", before: null, after: "one\ntwo\n" })).toBe(
      "new file new\n+one\n+two",
    );
  });
});
