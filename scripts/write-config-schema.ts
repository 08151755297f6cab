/**
 * Writes the JSON schemas of the configuration file for editors: wrangler's keys, and the keys of Ledge, made
 * from the schemas that check the file. An unknown key is not underlined: `ledge dev` and wrangler warn of it.
 *
 * dist/config-schema.json refers to the schema of the project's wrangler, so that an editor knows the keys of
 * the version that is installed.
 *
 * `allOf` of both is not possible: wrangler's schema refuses every key that it does not list, and no keyword
 * takes that back. So there are references of two kinds:
 *
 * - The whole schema stands below `if`, which decides nothing. But an editor completes and describes what
 *   stands there: all keys of the installed version.
 * - A few keys refer to wrangler's, so that a wrong value is underlined. These keys are in every version: an
 *   editor that cannot resolve one reference checks nothing (`websearch` came and went within wrangler 4).
 *
 * dist/config-schema-toml.json has a copy of the schema of the tested wrangler: taplo, which all editors use for
 * TOML, cannot follow a reference to another file.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { toJsonSchema, type JsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import { stateSchema } from "../src/config/state-table.ts";
import { dnsSchema } from "../src/dns/config/dns-table.ts";
import { edgeSchema } from "../src/edge/config/edge-settings.ts";
import { s3Schema } from "../src/s3/s3-table.ts";
import { remotesSchema } from "../src/store/config/remotes.ts";
import { bucketsSchema } from "../src/store/config/store-buckets.ts";

const title = "The configuration of an edge script: wrangler's keys, and the keys of Ledge";
const ours = {
  store_buckets: jsonSchema(bucketsSchema),
  remotes: jsonSchema(remotesSchema),
  dns: jsonSchema(dnsSchema),
  s3: jsonSchema(s3Schema),
  edge: jsonSchema(edgeSchema),
  state: jsonSchema(stateSchema),
};

/** From node_modules/ledge/dist to node_modules/wrangler. */
const wranglerSchema = "../../wrangler/config-schema.json";
const stableKeys = `
  assets build compatibility_date compatibility_flags d1_databases durable_objects kv_namespaces
  main migrations name queues r2_buckets routes rules services triggers vars
`;

/** @param definition of wrangler's schema */
function tableOf(definition: string) {
  const origin = `${wranglerSchema}#/definitions/${definition}/properties`;
  const theirs = stableKeys.trim().split(/\s+/);
  return {
    type: "object",
    properties: Object.fromEntries([
      ...theirs.map((key) => [key, { $ref: `${origin}/${key}` }] as const),
      ...Object.keys(ours).map((key) => [key, { $ref: `#/definitions/${key}` }] as const),
    ]),
  };
}

const { properties, ...table } = tableOf("RawConfig");
const environments = { type: "object", additionalProperties: tableOf("RawEnvironment") };
write("config-schema.json", {
  $schema: "http://json-schema.org/draft-07/schema#",
  title,
  allowTrailingCommas: true,
  definitions: ours,
  if: { $ref: wranglerSchema },
  ...table,
  properties: { ...properties, env: environments },
});

const path = new URL("config-schema.json", import.meta.resolve("wrangler/package.json"));
const copy = JSON.parse(readFileSync(path, "utf8")) as {
  definitions: Record<string, { properties?: object; additionalProperties?: boolean }>;
};
for (const name of ["RawConfig", "RawEnvironment"]) {
  const definition = copy.definitions[name];
  if (definition?.properties === undefined) {
    throw new Error(`wrangler's schema has no ${name}, so it has another form now.`);
  }
  Object.assign(definition.properties, ours);
  delete definition.additionalProperties;
}
write("config-schema-toml.json", { ...copy, title });

function write(name: string, value: object): void {
  writeFileSync(new URL(`../dist/${name}`, import.meta.url), JSON.stringify(value));
}

function jsonSchema(schema: GenericSchema): JsonSchema {
  const {
    $schema: _,
    $defs = {},
    ...converted
  } = toJsonSchema(schema, {
    // What a function of ours checks has no JSON schema: its keywords are metadata.
    errorMode: "ignore",
    // `null` counts as absent, and an editor need not offer it.
    overrideSchema: ({ valibotSchema, jsonSchema: { anyOf, ...rest } }) =>
      valibotSchema.type === "nullish" ? { ...(anyOf?.[0] as JsonSchema), ...rest } : undefined,
  });
  return withoutReferences(converted, $defs) as JsonSchema;
}

/** Each table is a definition of its own, which would collide with wrangler's. */
function withoutReferences(value: unknown, definitions: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutReferences(item, definitions));
  if (typeof value !== "object" || value === null) return value;
  const { $ref: reference, ...rest } = value as Record<string, unknown>;
  const name = typeof reference === "string" ? reference.replace("#/$defs/", "") : "";
  return Object.fromEntries(
    Object.entries({ ...(definitions[name] as object), ...rest }).map(([key, item]) => [
      key,
      withoutReferences(item, definitions),
    ]),
  );
}
