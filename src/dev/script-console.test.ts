import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ScriptConsole } from "./script-console.ts";

/** A bundle whose third line, from column 5 on, is line 8 of src/a.ts. */
function bundle(): { console: ScriptConsole; path: string; source: string } {
  const folder = mkdtempSync(join(tmpdir(), "ledge-console-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "index.js");
  const sourceMapPath = `${path}.map`;
  const map = { version: 3, sources: ["src/a.ts"], names: [], mappings: ";;IAOC" };
  writeFileSync(sourceMapPath, JSON.stringify(map));
  const console = new ScriptConsole("info");
  console.follow({ path, sourceMapPath });
  return { console, path, source: relative(process.cwd(), join(folder, "src/a.ts")) };
}

describe("ScriptConsole.traced()", () => {
  it("finds the places of the sources, in a stack and in the runtime's own words", () => {
    const { console, path, source } = bundle();
    expect(console.traced(`Error: x\n    at f (file://${path}:3:9)`)).toBe(
      `Error: x\n    at f (${source}:8:2)`,
    );
    expect(console.traced("Uncaught Error: x\n  at index.js:3:9")).toBe(
      `Uncaught Error: x\n  at ${source}:8:2`,
    );
  });

  it("leaves everything else as it is", () => {
    const { console } = bundle();
    for (const text of ["index.js: 3", "at other.js:3:9", "10:20:30", "http://a:80/index.js:"]) {
      expect(console.traced(text)).toBe(text);
    }
    expect(new ScriptConsole("info").traced("at index.js:3:9")).toBe("at index.js:3:9");
  });

  it("leaves out what wrangler puts around a script", () => {
    const { console } = bundle();
    const stack =
      "Error: x\n    at f (index.js:3:9)\n    at g (/n/wrangler/templates/middleware/common.ts:5:3)";
    expect(console.traced(stack)).not.toContain("wrangler");
  });
});
