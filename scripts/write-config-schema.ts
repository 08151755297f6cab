/**
 * Writes dist/config-schema.json, the JSON schema of the configuration file for editors: the schema of
 * the installed wrangler with the keys of Ledge, made from the schemas that check the file.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { toJsonSchema, type JsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import { dnsSchema } from "../src/dns/config/dns-table.ts";
import { s3Schema } from "../src/s3/s3-table.ts";
import { remotesSchema } from "../src/store/config/remotes.ts";
import { bucketsSchema } from "../src/store/config/store-buckets.ts";

const properties = {
  store_buckets: jsonSchema(bucketsSchema),
  remotes: jsonSchema(remotesSchema),
  dns: jsonSchema(dnsSchema),
  s3: jsonSchema(s3Schema),
};

const path = new URL("config-schema.json", import.meta.resolve("wrangler/package.json"));
const wrangler = JSON.parse(readFileSync(path, "utf8")) as {
  definitions: Record<string, { properties?: object }>;
};
for (const name of ["RawConfig", "RawEnvironment"]) {
  const definition = wrangler.definitions[name];
  if (definition?.properties === undefined) {
    throw new Error(`wrangler's schema has no ${name}, so it has another form now.`);
  }
  Object.assign(definition.properties, properties);
}
const title = "The configuration of an edge script: wrangler's keys, and the keys of Ledge";
writeFileSync(
  new URL("../dist/config-schema.json", import.meta.url),
  JSON.stringify({ ...wrangler, title }),
);

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
