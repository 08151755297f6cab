/** `aws s3 cp` with `ledge s3`, which goes on between the commands. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { configurationOf, program, type CopyTool } from "./copy-tools.ts";

const credentials = { access_key_id: "bench-of-ledge-1", secret_access_key: "secret-of-the-bench" };

/** Returns `null` when aws-cli is not installed. */
export async function startAwsTool(folder: string): Promise<CopyTool | null> {
  if (spawnSync("aws", ["--version"]).status !== 0) return null;
  mkdirSync(folder, { recursive: true });
  const configuration = { ...configurationOf(["file", "files"]), s3: credentials };
  writeFileSync(join(folder, "wrangler.json"), JSON.stringify(configuration));
  const server = spawn(process.execPath, [program, "s3", "--port", "0"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const endpoint = await printedAddress(server.stdout);
  const aws = (...words: string[]): void =>
    void execFileSync("aws", ["--endpoint-url", endpoint, "s3", ...words], {
      stdio: ["ignore", "ignore", "inherit"],
      env: {
        ...process.env,
        AWS_ACCESS_KEY_ID: credentials.access_key_id,
        AWS_SECRET_ACCESS_KEY: credentials.secret_access_key,
        AWS_DEFAULT_REGION: "auto",
        AWS_CONFIG_FILE: "/dev/null",
        AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
      },
    });
  const copy = (...words: string[]): void => aws("cp", "--only-show-errors", ...words);
  return {
    name: "aws",
    start: () => aws("ls", "s3://files"),
    put: (file) => copy(file, "s3://file/content"),
    get: (file) => copy("s3://file/content", file),
    import: (files) => copy("--recursive", files, "s3://files"),
    export: (files) => copy("--recursive", "s3://files", files),
    forget: () => aws("rm", "--only-show-errors", "--recursive", "s3://files"),
    end: () => void server.kill(),
  };
}

async function printedAddress(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const address = /^S3 API +(\S+)$/.exec(line)?.[1];
    if (address !== undefined) return address;
  }
  throw new Error("ledge s3 has ended before it printed its address.");
}
