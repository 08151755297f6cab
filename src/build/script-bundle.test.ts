import { describe, expect, it } from "vitest";
import { parseBundle } from "./script-bundle.ts";

/** The body of an upload, as wrangler writes it. */
async function upload(
  metadata: object,
  modules: readonly (readonly [name: string, type: string, content: string])[],
): Promise<Uint8Array> {
  const form = new FormData();
  form.set("metadata", JSON.stringify(metadata));
  for (const [name, type, content] of modules) {
    form.set(name, new File([content], name, { type }), name);
  }
  return new Uint8Array(await new Response(form).arrayBuffer());
}

const script = ["index.js", "application/javascript+module", "export default {}"] as const;
const metadata = { main_module: "index.js", compatibility_date: "2026-08-01" };

describe("parseBundle()", () => {
  it("returns modules with their types, the main module first", async () => {
    const bundle = await parseBundle(
      await upload(metadata, [
        ["./a.txt", "text/plain", "text"],
        ["./b.bin", "application/octet-stream", "data"],
        ["./c.wasm", "application/wasm", "wasm"],
        script,
        ["index.js.map", "application/source-map", "{}"],
      ]),
    );
    const types = bundle.modules.map(({ name, type }) => [name, type]);
    expect(types).toEqual([
      ["index.js", "esModule"],
      ["a.txt", "text"],
      ["b.bin", "data"],
      ["c.wasm", "wasm"],
    ]);
    expect(new TextDecoder().decode(bundle.modules[1]?.content)).toBe("text");
  });

  it("returns bindings and compatibility", async () => {
    const bindings = [{ name: "A", type: "plain_text", text: "x" }];
    const given = { ...metadata, bindings, compatibility_flags: ["nodejs_compat"] };
    expect(await parseBundle(await upload(given, [script]))).toMatchObject({
      bindings,
      compatibilityDate: "2026-08-01",
      compatibilityFlags: ["nodejs_compat"],
    });
  });

  it("refuses the service worker format", async () => {
    const form = await upload({ body_part: "index.js" }, [script]);
    await expect(parseBundle(form)).rejects.toThrow("service worker format");
  });

  it("refuses a module of an unknown type, by its name", async () => {
    const form = await upload(metadata, [script, ["a.py", "text/x-python", ""]]);
    await expect(parseBundle(form)).rejects.toThrow('The module "a.py" has the type text/x-python');
  });
});
