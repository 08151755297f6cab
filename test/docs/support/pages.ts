/** The pages of the documentation, and their parts. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { write } from "../../support/dev-process.ts";
import { temporaryFolder } from "../../support/store.ts";

export const root = fileURLToPath(new URL("../../..", import.meta.url));
export const read = (path: string) => readFileSync(join(root, path), "utf8");

/** The files that Git knows. */
export function repositoryFiles(): string[] {
  const listed = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" });
  return listed.split("\n").filter(Boolean);
}

/** The fenced blocks in a language. */
export function blocks(text: string, language: string): string[] {
  const pattern = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm");
  return Array.from(text.matchAll(pattern), ([, code]) => code as string);
}

/** A section, from its heading of the second level up to the next. */
export function section(text: string, title: string): string {
  return text.split(/^## /m).find((each) => each.startsWith(title)) ?? "";
}

/** The targets of the relative links of a page. */
export function linksOf(text: string): string[] {
  const links = text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g);
  return Array.from(links, ([, target]) => target as string);
}

/** What a program of a page prints, in a folder with these files and with this package installed. */
export function runProgram(program: string, files: Record<string, string | object>): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/ledge"), "dir");
  for (const [name, content] of Object.entries({ ...files, "program.mjs": program })) {
    write(join(folder, name), content);
  }
  const options = { cwd: folder, encoding: "utf8", timeout: 170_000 } as const;
  return execFileSync(process.execPath, ["program.mjs"], options);
}
