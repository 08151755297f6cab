/** `ledge s3` as a process, on a project of its own, for the clients of the tests of one file. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";
import type { ClientProgram } from "./client-programs.ts";

const execute = promisify(execFile);
const ledge = fileURLToPath(new URL("../../../dist/cli.js", import.meta.url));

/** Without the settings of AWS's clients, such as another profile. */
const processEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith("AWS_")),
);

export class ServedProject {
  readonly folder = mkdtempSync(join(tmpdir(), "ledge-s3-peers-"));
  /** The address, the credentials and a home folder, as clients read them from the environment. */
  environment: Readonly<Record<string, string>> = {};
  url = "";
  #server: ChildProcess | undefined;

  async start(): Promise<void> {
    const configuration = {
      name: "peers",
      compatibility_date: "2026-08-01",
      store_buckets: [
        { binding: "PHOTOS", bucket_name: "photos" },
        { binding: "DOCUMENTS", bucket_name: "documents" },
        { binding: "COPIES", bucket_name: "copies", s3_compatibility: "aws" },
      ],
    };
    writeFileSync(this.path("wrangler.jsonc"), JSON.stringify(configuration));
    const server = spawn(process.execPath, [ledge, "s3", "--port", "0"], {
      cwd: this.folder,
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#server = server;
    const printed = await new Promise<string>((resolve, reject) => {
      let text = "";
      server.stdout.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        if (/^ {2}secret +\S+$/m.test(text)) resolve(text);
      });
      server.once("exit", () => reject(new Error(`ledge s3 has ended: ${text}`)));
    });
    const [url, id, secret] = ["S3 API", "  key id", "  secret"].map(
      (label) => new RegExp(`^${label} +(\\S+)$`, "m").exec(printed)?.[1] as string,
    );
    this.url = url as string;
    this.environment = {
      HOME: this.path("home"),
      LANG: "C.UTF-8",
      AWS_ACCESS_KEY_ID: id as string,
      AWS_SECRET_ACCESS_KEY: secret as string,
      AWS_REGION: "auto",
      // aws-cli 2.9 and boto3 1.26 read the region from this variable alone.
      AWS_DEFAULT_REGION: "auto",
      AWS_ENDPOINT_URL: this.url,
    };
  }

  path(...names: string[]): string {
    return join(this.folder, ...names);
  }

  /** Runs a client until it ends. @returns what the client printed @throws if its exit code is not 0 */
  run(client: ClientProgram, ...words: string[]): Promise<string> {
    return this.#execute(client.path, words, { ...this.environment, ...client.environment });
  }

  /** Writes the objects of a bucket to a folder by the store's command, which does not use S3. */
  async export(bucketName: string): Promise<string> {
    const folder = this.path(`exported-${bucketName}`);
    await this.#execute(process.execPath, [ledge, "store", "export", bucketName, folder], {});
    return folder;
  }

  async #execute(
    path: string,
    words: readonly string[],
    environment: Record<string, string>,
  ): Promise<string> {
    const env = { ...processEnvironment, ...environment };
    const options = { cwd: this.folder, env, maxBuffer: 64 * 1024 * 1024 };
    try {
      return (await execute(path, words, options)).stdout;
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${[path, ...words].join(" ")} failed:\n${stdout}\n${stderr}`, {
        cause: error,
      });
    }
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (server !== undefined && server.exitCode === null) {
      const exited = new Promise((resolve) => server.once("exit", resolve));
      server.kill("SIGINT");
      await exited;
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** The project is served before the first test, and removed after the last. */
export function useServedProject(): ServedProject {
  const project = new ServedProject();
  beforeAll(() => project.start());
  afterAll(() => project.stop());
  return project;
}
