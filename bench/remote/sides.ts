/**
 * The two sides, as processes that are asked by HTTP: a runtime whose script has the binding, and a process of
 * Node with the AWS SDK.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";
import { remoteOptions } from "../../test/support/remote-bucket.ts";
import { bucketEntry } from "../../test/support/worker.ts";
import type { BenchService } from "./service.ts";
import type { Message } from "./workload.ts";

export type SideName = "binding" | "sdk";

export interface Side {
  readonly name: SideName;
  ask(message: Message): Promise<void>;
  stop(): Promise<void>;
}

const moduleOf = (name: string) => ({
  type: "esm" as const,
  contents: stripTypeScriptTypes(readFileSync(new URL(name, import.meta.url), "utf8")),
});

/** @param name distinguishes the state folders of runtimes */
export async function startBinding(
  { bucketName, ...service }: BenchService,
  folder: string,
  name: string,
): Promise<Side> {
  const miniflare = new Miniflare({
    resourcePersistencePath: join(folder, name),
    workers: [
      {
        config: {
          name: "bench",
          compatibilityDate: "2026-08-01",
          manifest: {
            mainModule: "script.ts",
            modules: { "script.ts": moduleOf("script.ts"), "workload.ts": moduleOf("workload.ts") },
          },
          env: { BUCKET: bucketEntry({ bucket_name: bucketName, ...remoteOptions(service) }) },
        },
        dev: { unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }] },
      },
    ],
  });
  const address = await miniflare.unsafeGetDirectURL("bench");
  return {
    name: "binding",
    ask: (message) => post(address, JSON.stringify(message)),
    stop: () => miniflare.dispose(),
  };
}

export async function startSdk(service: BenchService): Promise<Side> {
  const program = fileURLToPath(new URL("sdk-server.ts", import.meta.url));
  const flags = ["--disable-warning=ExperimentalWarning"];
  const child = spawn(process.execPath, [...flags, program, JSON.stringify(service)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    once(child, "exit").then(() => [""]),
  ])) as [string];
  if (line === "") throw new Error("The process with the AWS SDK has ended before it listened");
  const address = new URL(line);
  return {
    name: "sdk",
    ask: (message) => post(address, JSON.stringify(message)),
    stop: async () => {
      if (child.exitCode !== null) return;
      child.stdin.end();
      await once(child, "exit");
    },
  };
}

const agent = new Agent({ keepAlive: true });

function post(address: URL, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(address, { method: "POST", agent }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("error", reject);
      response.on("end", () => (response.statusCode === 200 ? resolve() : reject(new Error(text))));
    });
    sent.on("error", (error: NodeJS.ErrnoException) => {
      // workerd closes idle connections after some seconds, and may do so during the request.
      if (sent.reusedSocket && error.code === "ECONNRESET") resolve(post(address, body));
      else reject(error);
    });
    sent.end(body);
  });
}
