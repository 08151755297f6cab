/** `tsconfig.json` of an existing project: the types of the store beside the types of the platform. */
import { parse } from "jsonc-parser";
import { isTable } from "../../base/schema.ts";
import { setJson } from "./json-edit.ts";

/**
 * A project whose types come from `ledge types` needs no edit: the generated file refers to the types
 * of the store. Without a list of types there is nothing to add to.
 */
export function editTsconfig(text: string): string {
  const table: unknown = parse(text);
  const options = isTable(table) ? table["compilerOptions"] : undefined;
  const types: unknown = isTable(options) ? options["types"] : undefined;
  if (!Array.isArray(types) || types.includes("ledge/types")) return text;
  const after = types.findIndex((name) => String(name).startsWith("@cloudflare/workers-types"));
  if (after === -1) return text;
  return setJson(text, ["compilerOptions", "types", after + 1], "ledge/types");
}
