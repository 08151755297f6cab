/** wrangler's explorer, in a stock `wrangler dev` with an R2 bucket. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export interface WranglerExplorer {
  readonly url: string;
  readonly bucketUrl: string;
  stop(): Promise<void>;
}

const program = resolve("node_modules/wrangler/bin/wrangler.js");

export async function startWranglerExplorer(
  stateFolder: string,
  bucketName: string,
): Promise<WranglerExplorer> {
  const folder = mkdtempSync(join(tmpdir(), "ledge-bench-wrangler-"));
  writeFileSync(
    join(folder, "index.js"),
    `export default { fetch: () => new Response("script") };`,
  );
  writeFileSync(
    join(folder, "wrangler.json"),
    JSON.stringify({
      name: "script",
      main: "index.js",
      compatibility_date: "2026-08-01",
      r2_buckets: [{ binding: "LARGE", bucket_name: bucketName }],
    }),
  );
  const options = ["--port", "0", "--inspector-port", "0", "--persist-to", stateFolder];
  const child = spawn(process.execPath, [program, "dev", ...options], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, WRANGLER_SEND_METRICS: "false", CI: "true" },
  });
  const ready = Promise.withResolvers<string>();
  let output = "";
  const read = (chunk: Buffer): void => {
    output += chunk.toString();
    const [, url] = /Ready on (http:\/\/\S+)/.exec(output) ?? [];
    if (url !== undefined) ready.resolve(url);
  };
  child.stdout.on("data", read);
  child.stderr.on("data", read);
  child.once("exit", () => ready.reject(new Error(`wrangler dev has ended:\n${output}`)));
  const explorer = `${await ready.promise}/cdn-cgi/local/explorer`;
  return {
    url: explorer,
    bucketUrl: `${explorer}/r2/${bucketName}`,
    stop: async () => {
      child.kill("SIGINT");
      await once(child, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
