import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findPackageManager } from "./packages.ts";

/** The folder of a package in a repository with these files. */
function repository(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "ledge-packages-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of [".git", "packages/web"]) mkdirSync(join(folder, name), { recursive: true });
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  return join(folder, "packages/web");
}

const npx = "npm/11.0.0 node/v24.0.0 linux x64";

it.each([
  ["a field of the repository", { "package.json": `{ "packageManager": "pnpm@11.5.2" }` }, "pnpm"],
  ["a field of another program", { "package.json": `{ "packageManager": "deno@2.0.0" }` }, "npm"],
  ["a lock file of the repository", { "yarn.lock": "" }, "yarn"],
  ["a lock file of the package", { "bun.lock": "", "packages/web/pnpm-lock.yaml": "" }, "pnpm"],
  ["nothing", {}, "npm"],
])("findPackageManager() finds %s", (_, files: Record<string, string>, name) => {
  expect(findPackageManager(repository(files), npx).name).toBe(name);
});

it("findPackageManager() takes the program that runs it, if the project names none", () => {
  const { name, exec } = findPackageManager(repository({}), "pnpm/11.5.2 npm/? node/v24.0.0");
  expect({ name, exec }).toEqual({ name: "pnpm", exec: "pnpm exec" });
});
