import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { bindingNames, isInherited, misspeltKey, withoutLedgeKeys } from "./keys.ts";

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly $ref?: string;
  readonly description?: string;
}

const wrangler = import.meta.resolve("wrangler/package.json");
const { definitions } = JSON.parse(
  readFileSync(new URL("config-schema.json", wrangler), "utf8"),
) as { readonly definitions: Readonly<Record<string, Schema>> };
const keys = definitions["RawConfig"]?.properties ?? {};

describe("misspeltKey()", () => {
  it("is the key of Ledge that was meant", () => {
    expect(["store_bucket", "storebuckets", "DNS", "S3", "remote"].map(misspeltKey)).toEqual([
      "store_buckets",
      "store_buckets",
      "dns",
      "s3",
      "remotes",
    ]);
  });

  it("is null for the keys of Ledge, every key of wrangler, and keys that are like neither", () => {
    const others = ["store_buckets", "remotes", "dns", "s3", "k2", "x", "buckets", "anything"];
    const all = [...others, ...Object.keys(keys)];
    expect(all.filter((key) => misspeltKey(key) !== null)).toEqual([]);
    expect(Object.keys(keys).length).toBeGreaterThan(80);
  });
});

describe("isInherited()", () => {
  it("is false for bindings, also of a kind that this wrangler does not know", () => {
    const item = [{ binding: "X" }];
    expect(isInherited("kv_namespaces", item)).toBe(false);
    expect(isInherited("k2", item)).toBe(false);
    expect(isInherited("version_metadata", { binding: "X" })).toBe(false);
    expect(isInherited("durable_objects", { bindings: [{ name: "X", class_name: "Y" }] })).toBe(
      false,
    );
    expect(isInherited("store_buckets", "a mistake")).toBe(false);
    expect(isInherited("unsafe", { bindings: [{ name: "X", type: "dns" }] })).toBe(false);
  });

  it("is false for keys of which the installed wrangler says so", () => {
    const notInherited = ["define", "containers", "tail_consumers", "queues", "secrets"];
    expect(notInherited.filter((key) => isInherited(key, []))).toEqual([]);
  });

  it("is true for other keys, and for the tables of Ledge without bindings", () => {
    const inherited = [
      "main",
      "compatibility_date",
      "routes",
      "migrations",
      "dns",
      "s3",
      "remotes",
    ];
    expect(inherited.filter((key) => !isInherited(key, { x: 1 }))).toEqual([]);
    expect(isInherited("assets", { directory: "public", binding: "ASSETS" })).toBe(true);
    expect(isInherited("dns", { binding: "DNS" })).toBe(true);
  });
});

/** An example for each name in `env` that the schema has: the value of a key, and the path of the name. */
function examples(
  schema: Schema,
  path: readonly (string | number)[],
  wrap: (value: unknown) => unknown,
): { value: unknown; path: readonly (string | number)[] }[] {
  const {
    anyOf = [],
    items,
    properties = {},
  } = schema.$ref === undefined
    ? schema
    : (definitions[decodeURIComponent(schema.$ref.replace("#/definitions/", ""))] as Schema);
  return [
    ...anyOf.flatMap((each) => examples(each, path, wrap)),
    ...(items === undefined ? [] : examples(items, [...path, 0], (value) => wrap([value]))),
    ...Object.entries(properties).flatMap(([key, value]) => {
      const isName =
        key === "binding" || (key === "name" && /\bbinding\b/.test(value.description ?? ""));
      return isName
        ? [{ value: wrap({ [key]: "NAME" }), path: [...path, key] }]
        : examples(value, [...path, key], (inner) => wrap({ [key]: inner }));
    }),
  ];
}

describe("bindingNames()", () => {
  const cases = Object.entries(keys)
    // An environment and a preview have keys of their own.
    .filter(([key]) => key !== "env" && key !== "previews")
    .flatMap(([key, schema]) => examples(schema, [key], (value) => ({ [key]: value })));

  it("finds every binding of wrangler's schema", () => {
    expect(cases.length).toBeGreaterThan(30);
    for (const { value, path } of cases) {
      expect(bindingNames(value as object as Record<string, unknown>)).toEqual([
        { name: "NAME", path },
      ]);
    }
  });

  it("finds variables, files and secrets, and nothing in other tables", () => {
    const table = {
      vars: { A: { binding: "inner" } },
      text_blobs: { B: "b.txt" },
      secrets: { required: ["C"] },
      define: { D: "d" },
      triggers: { crons: ["* * * * *"] },
      compatibility_flags: ["nodejs_compat"],
      unsafe: { metadata: { bindings: [{ name: "E" }] } },
    };
    expect(bindingNames(table).map(({ name }) => name)).toEqual(["A", "B", "C"]);
  });
});

describe("withoutLedgeKeys()", () => {
  it("leaves wrangler's keys, in environments too", () => {
    const ours = { store_buckets: [], remotes: {}, dns: {}, s3: {}, edge: {} };
    expect(withoutLedgeKeys({ name: "x", ...ours, env: { a: { main: "y", ...ours } } })).toEqual({
      name: "x",
      env: { a: { main: "y" } },
    });
  });
});
