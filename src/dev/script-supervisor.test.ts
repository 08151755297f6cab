import { expect, it } from "vitest";
import { isSource } from "./script-supervisor.ts";

it.each([
  ["index.ts", true],
  ["lib/view.jsx", true],
  ["worker.mjs", true],
  ["tsconfig.json", true],
  ["server.log", false],
  ["notes.txt", false],
  ["data.sqlite-wal", false],
  [".wrangler/tmp/dev-1/index.js", false],
  ["node_modules/x/index.js", false],
  [".index.ts.swp", false],
])("isSource() of %s is %j", (path, expected) => {
  expect(isSource(path)).toBe(expected);
});
