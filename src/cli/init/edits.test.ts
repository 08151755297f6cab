import { describe, expect, it } from "vitest";
import { dev } from "../dev.ts";
import { types } from "../types.ts";
import {
  addDependencies,
  addScripts,
  editConfiguration,
  editGitignore,
  editScripts,
  editTsconfig,
  noteFramework,
  raiseDependency,
  type Note,
} from "./edits.ts";
import { renderDiff } from "./planned-files.ts";

/** The text and the notes of an edit. */
function noted(edit: (note: Note) => string) {
  const notes: string[] = [];
  return { text: edit((note) => notes.push(note)), notes };
}

/** Edits the script of a manifest that has one. */
function editScript(script: string) {
  const manifest = JSON.stringify({ scripts: { x: script } });
  const { text, notes } = noted((note) => editScripts(manifest, [dev, types], note));
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
    expect(editScript(before)).toEqual({ script: after, notes: [] });
  });

  it("leaves a script with an option that we do not have", () => {
    expect(editScript("wrangler dev --remote")).toEqual({
      script: "wrangler dev --remote",
      notes: [
        expect.stringContaining(
          'the script "x" stays: wrangler has --remote, Ledge does not',
        ) as string,
      ],
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

describe("noteFramework()", () => {
  it.each([
    [`{ "dependencies": { "@astrojs/cloudflare": "1" } }`, [/^with @astrojs\/cloudflare, .*simul/]],
    [`{ "dependencies": { "vite": "1" } }`, []],
  ])("says of %s which server uses the store", (text, notes) => {
    expect(noted((note) => noteFramework(text, note))).toEqual({
      text,
      notes: notes.map((note) => expect.stringMatching(note) as string),
    });
  });
});

describe("raiseDependency()", () => {
  it("replaces the version where the dependency stands", () => {
    const text = `{ "dependencies": { "a": "^1.0.0" }, "devDependencies": { "b": "~1.0.0" } }`;
    const { text: edited, notes } = noted((note) =>
      raiseDependency(raiseDependency(text, "a", "^2.0.0", note), "b", "^3.0.0", note),
    );
    expect(JSON.parse(edited)).toEqual({
      dependencies: { a: "^2.0.0" },
      devDependencies: { b: "^3.0.0" },
    });
    expect(notes).toEqual([]);
  });

  it("leaves the version of a catalog, and says what is needed", () => {
    const text = `{ "devDependencies": { "wrangler": "catalog:default" } }`;
    expect(noted((note) => raiseDependency(text, "wrangler", "^4.158.0", note))).toEqual({
      text,
      notes: ["its wrangler is too old for Ledge: use ^4.158.0."],
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
    [null, [], ".wrangler/\n.ledge-*\n"],
    ["node_modules", [], "node_modules\n.wrangler/\n.ledge-*\n"],
    [".wrangler\n", [], ".wrangler\n.ledge-*\n"],
    ["a\r\n", ["**/.wrangler/**"], "a\r\n.ledge-*\r\n"],
    [null, [".wrangler/\n.ledge-*\n"], null],
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

const schema = "node_modules/ledge/dist/config-schema.json";
const edit = (text: string, kind: "json" | "toml") =>
  noted((note) => editConfiguration(text, { isToml: kind === "toml", schemaPath: schema }, note));

describe("editConfiguration() of JSON", () => {
  const before = `{
  // The script
  "name": "photos",
  "r2_buckets": [
    // The photos
    { "binding": "PHOTOS", "bucket_name": "photos", "preview_bucket_name": "local" },
  ],
  "env": {
    "staging": {
      "r2_buckets": [{ "binding": "PHOTOS", "bucket_name": "staging" }]
    }
  }, // all environments
}
`;
  const after = `{
  "$schema": "${schema}",
  // The script
  "name": "photos",
  "r2_buckets": [
    // The photos
    { "binding": "PHOTOS", "bucket_name": "photos", "preview_bucket_name": "local" },
  ],
  "store_buckets": [{ "binding": "PHOTOS", "bucket_name": "photos", "preview_bucket_name": "local" }],
  "env": {
    "staging": {
      "r2_buckets": [{ "binding": "PHOTOS", "bucket_name": "staging" }],
      "store_buckets": [{ "binding": "PHOTOS", "bucket_name": "staging" }]
    }
  }, // all environments
}
`;

  it("adds store_buckets to each part, and keeps comments", () => {
    expect(edit(before, "json")).toEqual({ text: after, notes: [] });
  });

  it("finds nothing to do the second time", () => {
    expect(edit(after, "json").text).toBe(after);
  });

  it("adds to a list that exists", () => {
    const text = `{\n\t"$schema": "own.json",\n\t"store_buckets": [{ "binding": "A", "bucket_name": "a" }],\n\t"r2_buckets": [{ "binding": "B", "bucket_name": "b" }]\n}\n`;
    const edited = edit(text, "json").text;
    expect(edited).toContain('"own.json"');
    expect(JSON.parse(edited)).toMatchObject({
      store_buckets: [
        { binding: "A", bucket_name: "a" },
        { binding: "B", bucket_name: "b" },
      ],
    });
  });

  it("writes one line for each bucket, with the indentation of the file", () => {
    const entries = `[{ "binding": "A", "bucket_name": "a" }, { "binding": "B", "bucket_name": "b" }]`;
    const lines = ["{", `\t"$schema": "own.json",`, `\t"r2_buckets": ${entries}`, "}", ""];
    expect(edit(lines.join("\r\n"), "json").text.split("\r\n")).toEqual([
      ...lines.slice(0, 2),
      `\t"r2_buckets": ${entries},`,
      `\t"store_buckets": [`,
      `\t\t{ "binding": "A", "bucket_name": "a" },`,
      `\t\t{ "binding": "B", "bucket_name": "b" }`,
      `\t]`,
      ...lines.slice(3),
    ]);
  });

  it("leaves a placeholder for a name, and says so", () => {
    const text = `{ "$schema": "own.json", "env": { "live": { "r2_buckets": [{ "binding": "A", "bucket_name": "" }] } } }`;
    expect(edit(text, "json")).toEqual({
      text,
      notes: [
        'env.live.r2_buckets.0 cannot be adopted: "" is not a valid bucket name. Add bucket_name, as in "photos".',
      ],
    });
  });

  it("replaces the schema of wrangler, and leaves remote buckets", () => {
    const text = `{ "$schema": "./node_modules/wrangler/config-schema.json", "r2_buckets": [{ "binding": "A", "bucket_name": "a", "remote": true }] }`;
    expect(JSON.parse(edit(text, "json").text)).toEqual({
      $schema: schema,
      r2_buckets: [{ binding: "A", bucket_name: "a", remote: true }],
    });
  });
});

describe("editConfiguration() of TOML", () => {
  const before = `# The script
name = "photos"

[[r2_buckets]]
binding = "PHOTOS" # the photos
bucket_name = "photos"

# Variables
[vars]
A = "1"

[[env.staging.r2_buckets]]
binding = "PHOTOS"
bucket_name = "staging"
`;
  const after = `#:schema ${schema}
# The script
name = "photos"

[[r2_buckets]]
binding = "PHOTOS" # the photos
bucket_name = "photos"

[[store_buckets]]
binding = "PHOTOS"
bucket_name = "photos"

# Variables
[vars]
A = "1"

[[env.staging.r2_buckets]]
binding = "PHOTOS"
bucket_name = "staging"

[[env.staging.store_buckets]]
binding = "PHOTOS"
bucket_name = "staging"
`;

  it("adds store_buckets to each part, and keeps comments", () => {
    expect(edit(before, "toml")).toEqual({ text: after, notes: [] });
  });

  it("finds nothing to do the second time", () => {
    expect(edit(after, "toml").text).toBe(after);
  });

  it("adds tables for a list in one line", () => {
    const text = `r2_buckets = [{ binding = "A", bucket_name = "a" }]\n[vars]\nX = "1"`;
    expect(edit(text, "toml").text).toBe(
      `#:schema ${schema}\n${text}\n\n[[store_buckets]]\nbinding = "A"\nbucket_name = "a"\n`,
    );
  });

  it("refuses a file that cannot be extended, and says what to add", () => {
    const text = `env = { staging = { r2_buckets = [{ binding = "A", bucket_name = "a" }] } }\n`;
    expect(edit(text, "toml")).toEqual({
      text,
      notes: ["store_buckets cannot be added here: add A by hand."],
    });
  });
});
