import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { bindingPlaces, notInherited, wranglerKeys } from "./wrangler-keys.ts";

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
  it("are those of the schema that wrangler ships", () => {
    expect(wranglerKeys.toSorted()).toEqual(Object.keys(definition("RawConfig")).toSorted());
  });
});

describe("notInherited", () => {
  it("are keys of environments whose description says so", () => {
    const environment = definition("RawEnvironment");
    for (const key of notInherited) expect(environment).toHaveProperty([key]);
    const said = Object.keys(environment).filter((key) =>
      /not automatically inherited/.test(environment[key]?.description ?? ""),
    );
    expect(said.filter((key) => !notInherited.has(key))).toEqual([]);
  });
});

describe("bindingPlaces", () => {
  it("lead to every key of the schema that is a binding", () => {
    const bindings = Object.entries(definition("RawConfig")).filter(([key, value]) => {
      const text = JSON.stringify(value.items ?? value);
      return key !== "previews" && /"properties":\{[^]*"binding":\{"type":"string"/.test(text);
    });
    expect(bindings.length).toBeGreaterThan(20);
    const known = new Set(bindingPlaces.map((place) => place.split(".")[0]));
    expect(bindings.map(([key]) => key).filter((key) => !known.has(key))).toEqual([]);
  });
});
