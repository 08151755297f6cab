import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { bindingPaths, notInherited, wranglerKeys } from "./wrangler-keys.ts";

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly $ref?: string;
  readonly description?: string;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

const wrangler = import.meta.resolve("wrangler/package.json");
const schema = JSON.parse(readFileSync(new URL("config-schema.json", wrangler), "utf8")) as Schema;

function definition(name: string): Readonly<Record<string, Schema>> {
  return schema.definitions?.[name]?.properties ?? {};
}

describe("wranglerKeys", () => {
  it("are the keys of the schema that wrangler ships", () => {
    expect(wranglerKeys.toSorted()).toEqual(Object.keys(definition("RawConfig")).toSorted());
  });
});

describe("notInherited", () => {
  it("are the keys of an environment whose description says so", () => {
    const environment = definition("RawEnvironment");
    for (const key of notInherited) expect(environment).toHaveProperty([key]);
    const described = Object.keys(environment).filter((key) =>
      /not automatically inherited/.test(environment[key]?.description ?? ""),
    );
    expect(described.filter((key) => !notInherited.has(key))).toEqual([]);
  });
});

describe("bindingPaths", () => {
  it("reach every key of the schema that is a binding", () => {
    const bindings = Object.entries(definition("RawConfig")).filter(([key, value]) => {
      const text = JSON.stringify(value.items ?? value);
      return key !== "previews" && /"properties":\{[^]*"binding":\{"type":"string"/.test(text);
    });
    expect(bindings.length).toBeGreaterThan(20);
    const known = new Set(bindingPaths.map((path) => path.split(".")[0]));
    expect(bindings.map(([key]) => key).filter((key) => !known.has(key))).toEqual([]);
  });
});
