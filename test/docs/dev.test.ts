/** docs/dev.md: the example program runs. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { write } from "../support/dev-process.ts";
import { temporaryFolder } from "../support/store.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

it("docs/dev.md shows a program that starts a script, sends a request and stops", () => {
  const page = readFileSync(join(root, "docs/dev.md"), "utf8");
  const program = /^```js\n([^]*?)^```$/m.exec(page)?.[1] as string;
  const folder = temporaryFolder();
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/ledge"), "dir");
  write(join(folder, "program.mjs"), program);
  write(join(folder, "wrangler.json"), {
    name: "greeter",
    main: "index.js",
    compatibility_date: "2026-08-01",
  });
  write(join(folder, "index.js"), 'export default { fetch: () => new Response("hello") };');
  const printed = execFileSync(process.execPath, ["program.mjs"], {
    cwd: folder,
    encoding: "utf8",
    timeout: 170_000,
  });
  expect(printed).toMatch(/^Ready {6}http:\/\/localhost:\d+\n/);
  expect(printed).toContain("\nhello\n");
});
