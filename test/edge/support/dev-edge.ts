/** Dev servers in this process, and requests to them for names, as a client with a resolver of its own sends them. */
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { startDev } from "../../../dist/index.js";
import { write } from "../../support/dev-process.ts";

/** A project for the tests of a suite. The suite removes the folder. */
export function suiteProject(files: Readonly<Record<string, string | object>>): string {
  const folder = mkdtempSync(join(tmpdir(), "ledge-test-"));
  for (const [name, content] of Object.entries(files)) write(join(folder, name), content);
  return folder;
}

type DevOptions = NonNullable<Parameters<typeof startDev>[0]>;

export interface EdgeDev {
  readonly url: string;
  /** What the dev server has said. */
  readonly lines: readonly string[];
  stop(): Promise<void>;
}

/** The caller stops the dev server. */
export async function startEdge(folder: string, options: DevOptions = {}): Promise<EdgeDev> {
  const lines: string[] = [];
  const ports = { port: 0, explorerPort: 0, s3Port: 0, dnsPort: 0, dnsApiPort: 0 };
  const quiet = { dns: false, explorer: false, s3: false, logLevel: "error" } as const;
  const log = (line: string): void => void lines.push(line);
  const dev = await startDev({ folder, ...ports, ...quiet, log, ...options });
  await dev.ready;
  return { url: dev.url, lines, stop: () => dev.stop() };
}

interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** @param url whose port is that of the dev server, wherever its name leads */
export async function ask(url: string, options: AskOptions = {}): Promise<Answer> {
  const { host, port, pathname, search } = new URL(url);
  const { method = "GET", headers = {}, body } = options;
  const sent = request({
    host: "127.0.0.1",
    port,
    path: pathname + search,
    method,
    headers: { host, ...headers },
    agent: false,
  });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return {
    status: response.statusCode as number,
    headers: response.headers,
    body: await text(response),
  };
}

/** The URL of a name at the port of a dev server. */
export function at(dev: Pick<EdgeDev, "url">, name: string, path = "/"): string {
  return `http://${name}:${new URL(dev.url).port}${path}`;
}
