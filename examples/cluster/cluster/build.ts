/** Runs `ledge build` for the address of the S3 service, which differs from start to start. */
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { S3Service } from "./s3-service.ts";

const example = fileURLToPath(new URL("..", import.meta.url));
const endpointPattern = /("endpoint": )"[^"]*"/;

export interface Built {
  readonly folder: string;
  /** The program of workerd that belongs to the build. */
  readonly workerdPath: string;
}

export async function build(service: S3Service, folder: string): Promise<Built> {
  const text = readFileSync(join(example, "wrangler.jsonc"), "utf8");
  // Beside the original, because the path of the script is relative.
  const configPath = join(example, `.ledge-${process.pid}.wrangler.json`);
  writeFileSync(configPath, text.replace(endpointPattern, `$1${JSON.stringify(service.endpoint)}`));
  try {
    const words = ["build", "--json", "--config", configPath, "--outdir", folder];
    const { stdout } = await promisify(execFile)(process.execPath, [ledge(), ...words], {
      env: { ...process.env, ...keys(service) },
    });
    return JSON.parse(stdout) as Built;
  } finally {
    rmSync(configPath, { force: true });
  }
}

/** The environment of the build and of each runtime. */
export function keys({ accessKeyId, secretAccessKey }: S3Service): Record<string, string> {
  return {
    LEDGE_REMOTE_CLUSTER_ACCESS_KEY_ID: accessKeyId,
    LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY: secretAccessKey,
  };
}

function ledge(): string {
  return fileURLToPath(new URL("./cli.js", import.meta.resolve("ledge")));
}
