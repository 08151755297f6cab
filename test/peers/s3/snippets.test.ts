/** Runs the code of docs/s3.md with each client, against `ledge s3`. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, it } from "vitest";
import {
  canMount,
  didNotRun,
  installedClients,
  mountNeeds,
  type ClientName,
} from "./client-programs.ts";
import { duckDbNeeds, hasDuckDb, openDuckDb } from "./duckdb.ts";
import { useServedProject } from "./served-project.ts";

const page = readFileSync(new URL("../../../docs/s3.md", import.meta.url), "utf8");
const project = useServedProject();

beforeAll(() => {
  for (const name of ["public", "bin", "home"]) mkdirSync(project.path(name));
  writeFileSync(project.path("public/index.html"), "<p>hello</p>\n");
  const modules = fileURLToPath(new URL("../../../node_modules", import.meta.url));
  symlinkSync(modules, project.path("node_modules"), "dir");
});

/** The first block of the language after the text, with the address of this run. */
function snippet(text: string, language: string): string {
  const start = page.indexOf(`\n${text}`);
  expect(start, `docs/s3.md has "${text}"`).not.toBe(-1);
  const [, code] = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(page.slice(start)) ?? [];
  return (code as string).replaceAll("localhost:8789", new URL(project.url).host);
}

it.each(["The AWS SDK for JavaScript", "`aws4fetch`"])("%s", async (text) => {
  const path = project.path("snippet.mjs");
  writeFileSync(path, snippet(text, "js"));
  const node = { version: "", path: process.execPath, environment: {} };
  expect(await project.run(node, path)).toBe("hello\n");
});

it("boto3", async (context) => {
  const python = installedClients("boto3").at(-1);
  if (python === undefined) return didNotRun(context, "boto3 is not installed.");
  expect(await project.run(python, "-c", snippet("boto3:", "python"))).toBe("hello\n");
});

it("DuckDB", async (context) => {
  if (!hasDuckDb) return didNotRun(context, duckDbNeeds);
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = project.environment;
  const run = await openDuckDb();
  const code = snippet("DuckDB,", "sql")
    .replace("'key id'", `'${id}'`)
    .replace("'secret'", `'${secret}'`);
  // openDuckDb() has loaded the extension, from where install.sh has put it.
  const statements = code
    .trim()
    .split(/;$/m)
    .filter((statement) => !/^\s*(?:\w+ httpfs)?$/.test(statement));
  let rows: unknown[][] = [];
  for (const statement of statements) rows = await run(statement);
  expect(rows).toEqual([["45"]]);
});

interface ShellSnippet {
  /** The begin of the line before the block. */
  readonly text: string;
  readonly client: ClientName;
  readonly printed: string;
}

it.for<ShellSnippet>([
  { text: "aws-cli.", client: "aws", printed: "<p>hello</p>" },
  { text: "rclone:", client: "rclone", printed: "" },
  { text: "s3cmd:", client: "s3cmd", printed: "s3://photos/public/index.html" },
  { text: "restic:", client: "restic", printed: "no errors were found" },
  { text: "The MinIO client:", client: "mc", printed: "<p>hello</p>" },
  { text: "s3fs,", client: "s3fs", printed: "" },
])("$client", async ({ text, client, printed }, context) => {
  const program = installedClients(client).at(-1);
  if (program === undefined) return didNotRun(context, `${client} is not installed.`);
  if (client === "s3fs" && !canMount()) return didNotRun(context, mountNeeds);
  // The name that the page has; packages have other names for some clients.
  symlinkSync(program.path, project.path("bin", client));
  const code = `PATH=${project.path("bin")}:$PATH\n${snippet(text, "sh")}`;
  const shell = { version: "", path: "/bin/bash", environment: program.environment };
  // Aliases are for interactive shells otherwise.
  const output = await project.run(shell, "-e", "-O", "expand_aliases", "-c", code);
  expect(output).toContain(printed);
});
