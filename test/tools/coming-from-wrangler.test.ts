/** docs/coming-from-wrangler.md: its project runs as the page says, before and after `ledge init`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { run, temporaryProject } from "../support/project.ts";

const page = readFileSync(new URL("../../docs/coming-from-wrangler.md", import.meta.url), "utf8");

/** The code blocks that begin with the path of a file. */
const files = Object.fromEntries(
  Array.from(page.matchAll(/^```\w+\n(\/\/ (\S+)\n[^]*?)^```$/gm), ([, text, path]) => [
    path as string,
    // JSON has no comments.
    path === "package.json" ? (text as string).replace(/^.*\n/, "") : (text as string),
  ]),
);

function block(language: string): string {
  return new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, "m").exec(page)![1]!;
}

/** The bindings that wrangler lists; the width of its table depends on the terminal. */
function bindings(text: string): string[] {
  return (text.match(/^env\.\S+ .*$/gm) ?? []).map((line) => line.replace(/ +/g, " ").trim());
}

it("runs the project of the page", { timeout: 300_000 }, async () => {
  const folder = temporaryProject(files);
  expect(Object.keys(files)).toEqual([
    "wrangler.jsonc",
    "src/index.ts",
    "package.json",
    "vitest.config.ts",
    "test/index.test.ts",
    "albums.js",
  ]);

  const tested = await run(folder, "vitest", "run");
  expect(tested.out).toContain("2 passed");

  const [, comment] = /console\.log\(.*\/\/ (.*)$/m.exec(files["albums.js"] as string) ?? [];
  const albums = await run(folder, "node", "albums.js");
  expect(albums.out.trim()).toBe(comment);
  expect(await run(folder, "ledge", "store", "list", "photos")).toMatchObject({ code: 0 });

  const made = await run(folder, "ledge", "init", "--yes");
  expect(made.code).toBe(0);
  expect(made.out).toContain(block("diff"));
  expect(readFileSync(join(folder, "package.json"), "utf8")).toContain('"dev": "ledge dev"');

  const deployed = await run(folder, "wrangler", "deploy", "--dry-run", "--outdir", "out");
  expect(bindings(deployed.out)).toEqual(bindings(block("text")));
  expect(deployed.out + deployed.error).toContain("store_buckets");
});
