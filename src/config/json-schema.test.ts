import { globSync, readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { parse } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { describe, expect, it } from "vitest";
import { dnsKeys } from "../dns/config/dns-config.ts";
import { configSchema, ledgeProperties, type JsonSchema } from "./json-schema.ts";
import { remoteKeys } from "./remotes.ts";
import { corsKeys, s3Keys } from "./s3-table.ts";
import { bucketKeys } from "./store-buckets.ts";

const wrangler = new URL("config-schema.json", import.meta.resolve("wrangler/package.json"));
const schema = configSchema(
  JSON.parse(readFileSync(wrangler, "utf8")) as Parameters<typeof configSchema>[0],
);
// wrangler's schema has keywords for editors, which Ajv does not know.
const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);

/** The places of the mistakes, each with its problem. */
function mistakes(table: unknown): string[] {
  validate(table);
  return (validate.errors ?? []).map(({ instancePath, message, params }) =>
    [instancePath, message, params["additionalProperty"]].filter(Boolean).join(" "),
  );
}

const root = new URL("../../", import.meta.url);
const files = globSync("{examples,test/tools/fixtures}/**/wrangler.{json,jsonc,toml}", {
  cwd: root,
  exclude: (name) => name === "node_modules",
});

describe("configSchema()", () => {
  it("has the keys of the schemas that check the file", () => {
    const { store_buckets: buckets, remotes, dns, s3 } = ledgeProperties;
    expect(Object.keys(buckets?.items?.properties ?? {})).toEqual(bucketKeys);
    const remote = remotes?.additionalProperties as JsonSchema;
    expect(Object.keys(remote.properties ?? {})).toEqual(remoteKeys);
    expect(Object.keys(dns?.properties ?? {}).toSorted()).toEqual(dnsKeys.toSorted());
    expect(Object.keys(s3?.properties ?? {})).toEqual(s3Keys);
    expect(Object.keys(s3?.properties?.["cors"]?.items?.properties ?? {})).toEqual(corsKeys);
  });

  it("describes every key", () => {
    for (const [name, property] of Object.entries(ledgeProperties)) {
      const keys = Object.entries(property.properties ?? property.items?.properties ?? {});
      const all = [[name, property] as const, ...keys];
      const lacking = all.filter(([, { description = "" }]) => description === "");
      expect(lacking.map(([key]) => key)).toEqual([]);
    }
  });

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

  it.each([
    [{ store_bucket: [] }, " must NOT have additional properties store_bucket"],
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
