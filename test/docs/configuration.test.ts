/**
 * docs/configuration.md: readConfig() accepts the examples, and the tables list every key; and the JSON
 * schema for editors, which the build makes.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { parse } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { describe, expect, it } from "vitest";
import { readConfig, type ProjectConfig } from "../../src/config/read-config.ts";
import { boundResources } from "../../src/seed/bound-resources.ts";
import { readSeed } from "../../src/seed/seed-folder.ts";
import { write } from "../support/dev-process.ts";
import { temporaryFolder } from "../support/store.ts";

interface JsonSchema {
  readonly description?: string;
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly items: JsonSchema;
  readonly additionalProperties: JsonSchema;
}

const root = new URL("../../", import.meta.url);
const readSchema = (path: string) =>
  JSON.parse(readFileSync(new URL(path, root), "utf8")) as JsonSchema & {
    readonly definitions: Readonly<Record<string, JsonSchema>>;
  };
const schema = readSchema("dist/config-schema.json");
const { definitions: keys } = schema;
const tables = {
  store_buckets: keys["store_buckets"]!.items,
  remotes: keys["remotes"]!.additionalProperties,
  dns: keys["dns"]!,
  s3: keys["s3"]!,
  "s3.cors": keys["s3"]!.properties["cors"]!.items,
};
const keysOf = ({ properties }: JsonSchema) => Object.keys(properties).toSorted();

const page = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");
const sections = new Map(
  page.split(/^## /m).map((text) => [text.slice(0, text.indexOf("\n")), text]),
);

/** Reads each code block of a section as a configuration file. */
function examples(section: string): ProjectConfig[] {
  const blocks = sections.get(section)?.matchAll(/^```(toml|jsonc)\n([^]*?)^```$/gm) ?? [];
  return Array.from(blocks, ([, language, text]) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, `wrangler.${language}`), text as string);
    return readConfig({ folder });
  });
}

function keysOfTable(section: string): string[] {
  const rows = sections.get(section)?.matchAll(/^\| (`[^|]+?) +\|/gm) ?? [];
  return Array.from(rows, ([, cell]) => cell as string).flatMap((cell) =>
    Array.from(cell.matchAll(/`(\w+)`/g), ([, key]) => key as string),
  );
}

describe("docs/configuration.md", () => {
  it("shows the same configuration in JSON and in TOML", () => {
    const [json, toml, ...more] = examples("# Configuration");
    expect(more).toEqual([]);
    // TOML names the schema in a comment.
    const { $schema: path, ...table } = json?.table ?? {};
    expect(path).toBe("node_modules/ledge/dist/config-schema.json");
    expect(table).toEqual(toml?.table);
    expect(json?.buckets).toEqual([{ binding: "PHOTOS", bucketName: "photos" }]);
  });

  it("lists every key of a bucket, with an example of each", () => {
    expect(keysOfTable("`store_buckets`").toSorted()).toEqual(keysOf(tables.store_buckets));
    const [config] = examples("`store_buckets`");
    expect(config?.buckets).toEqual([
      { binding: "PHOTOS", bucketName: "photos", previewBucketName: "photos-local" },
      { binding: "ARCHIVE", bucketName: "archive", storageClass: "InfrequentAccess" },
    ]);
  });

  it("lists every key of a remote", () => {
    expect(keysOfTable("`remotes`").toSorted()).toEqual(keysOf(tables.remotes));
    const [config] = examples("`remotes`");
    expect(config?.buckets[0]?.remote).toMatchObject({ name: "cluster", prefix: "team/" });
  });

  it("lists every key of DNS", () => {
    expect(keysOfTable("`dns`").toSorted()).toEqual(keysOf(tables.dns));
    const [config] = examples("`dns`");
    expect(config?.dns).toMatchObject({ apiPort: 8788, port: 8053, binding: "DNS" });
  });

  it("lists every key of the state, and shows a seed that can be read", () => {
    expect(keysOfTable("`state`")).toEqual(keysOf(keys["state"]!));
    const [config] = examples("`state`");
    const { folder, state } = config as ProjectConfig;
    expect(state).toEqual({ seed: join(folder, "seed") });
    const [manifest = "", values = ""] = Array.from(
      (sections.get("`state`") ?? "").matchAll(/^```json\n([^]*?)^```$/gm),
      ([, text]) => text as string,
    );
    write(join(folder, "wrangler.json"), {
      store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
      kv_namespaces: [{ binding: "SETTINGS", id: "0123" }],
    });
    write(join(folder, "seed/buckets/photos/trips/cat.png"), "cat");
    write(join(folder, "seed/buckets/photos.json"), manifest);
    write(join(folder, "seed/kv/SETTINGS.json"), values);
    const bound = boundResources([readConfig({ configPath: join(folder, "wrangler.json") })]);
    const seed = readSeed(join(folder, "seed"), bound);
    expect(seed.puts).toMatchObject([
      { key: "trips/a cat?", options: { httpMetadata: { contentType: "image/png" } } },
      { key: "greeting", value: "hello" },
      { key: "settings", value: '{"theme":"dark"}', options: { expirationTtl: 3600 } },
    ]);
  });

  it("shows an environment that does not inherit buckets", () => {
    const [config] = examples("Environments");
    const staging = readConfig({ configPath: config?.path as string, environment: "staging" });
    expect(staging.buckets).toEqual([{ binding: "PHOTOS", bucketName: "photos-staging" }]);
  });

  it("shows the messages of mistakes", () => {
    const folder = temporaryFolder();
    const path = join(folder, "wrangler.toml");
    writeFileSync(path, '[[store_buckets]]\nbinding = "my-photos"\nbucketname = "photos"\n');
    const [, shown] = /```text\n([^]*?)\n```/.exec(sections.get("Mistakes") ?? "") ?? [];
    expect(() => readConfig({ folder })).toThrow(
      (shown as string).replaceAll("wrangler.toml", path),
    );
  });
});

// wrangler's schema has keywords for editors, which Ajv does not know.
const ajv = new Ajv({ strict: false, allErrors: true });
const wranglerSchema = "node_modules/wrangler/config-schema.json";
ajv.addSchema(readSchema(wranglerSchema), `file:///${wranglerSchema}`);

/** The editors of JSON follow the reference to wrangler's schema, and the editors of TOML do not. */
const validators = {
  "dist/config-schema.json": ajv.compile({
    $id: "file:///node_modules/ledge/dist/config-schema.json",
    ...schema,
  }),
  "dist/config-schema-toml.json": ajv.compile(readSchema("dist/config-schema-toml.json")),
};

const files = globSync("{examples,test/tools/fixtures}/**/wrangler.{json,jsonc,toml}", {
  cwd: root,
  exclude: (name) => name === "node_modules",
});

describe.each(Object.entries(validators))("%s", (_, validate) => {
  /** The places of the mistakes, each with its problem. */
  function mistakes(table: unknown): string[] {
    validate(table);
    return (validate.errors ?? []).map(({ instancePath, message, params }) =>
      [instancePath, message, params["additionalProperty"]].filter(Boolean).join(" "),
    );
  }

  it.each(files)("accepts %s", (path) => {
    const text = readFileSync(new URL(path, root), "utf8");
    expect(mistakes(path.endsWith(".toml") ? parseToml(text) : parse(text))).toEqual([]);
  });

  it("accepts the keys of Ledge in an environment", () => {
    const buckets = [{ binding: "PHOTOS", bucket_name: "photos", verify_reads: true }];
    const remotes = {
      cluster: { endpoint: "https://s3.example.net", accept: ["conditional-put"] },
    };
    const own = { store_buckets: buckets, remotes, dns: { resolver: "192.0.2.53", zones: [] } };
    expect(mistakes({ name: "x", ...own, env: { staging: own } })).toEqual([]);
  });

  it("accepts a key that it does not know, which a newer wrangler may know", () => {
    const k2 = [{ binding: "STREAM", stream: "x" }];
    expect(mistakes({ k2, env: { staging: { k2 } } })).toEqual([]);
  });

  it.each([
    [{ store_buckets: {} }, "/store_buckets must be array"],
    [
      { store_buckets: [{ binding: "X" }] },
      "/store_buckets/0 must have required property 'bucket_name'",
    ],
    [
      { store_buckets: [{ binding: "X", bucket_name: "a", jurisdiction: "eu" }] },
      "/store_buckets/0 must NOT have additional properties jurisdiction",
    ],
    [
      { store_buckets: [{ binding: "X", bucket_name: "a b" }] },
      "/store_buckets/0/bucket_name must match pattern",
    ],
    [
      {
        env: { staging: { store_buckets: [{ binding: "X", bucket_name: "a", storage_class: 1 }] } },
      },
      "/env/staging/store_buckets/0/storage_class must be string",
    ],
    [{ dns: { port: 65_536 } }, "/dns/port must be <= 65535"],
    [{ dns: { zone: [] } }, "/dns must NOT have additional properties zone"],
    [{ dns: { name_rules: "loose" } }, "/dns/name_rules must be equal to one of"],
    [{ remotes: { cluster: {} } }, "/remotes/cluster must have required property 'endpoint'"],
    [{ main: 5 }, "/main must be string"],
  ])("finds the mistake in %j", (table, problem) => {
    expect(mistakes({ name: "x", ...table }).join("\n")).toContain(problem.trim());
  });
});

it.each(Object.entries(tables))("the schemas describe every key of %s", (_, table) => {
  const entries = Object.entries(table.properties);
  expect(entries.filter(([, { description = "" }]) => description === "")).toEqual([]);
  expect(entries.length).toBeGreaterThan(4);
});
