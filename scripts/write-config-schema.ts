/** Writes dist/config-schema.json: the schema of the installed wrangler, with the keys of Ledge. */
import { readFileSync, writeFileSync } from "node:fs";
import { configSchema } from "../src/config/json-schema.ts";

const wrangler = new URL("config-schema.json", import.meta.resolve("wrangler/package.json"));
const schema = JSON.parse(readFileSync(wrangler, "utf8")) as Parameters<typeof configSchema>[0];
writeFileSync(
  new URL("../dist/config-schema.json", import.meta.url),
  JSON.stringify(configSchema(schema)),
);
