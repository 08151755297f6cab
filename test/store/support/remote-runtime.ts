/** A runtime (workerd) whose script sends requests to an S3 service through a `network` service. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { request as sendRequest, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { build, type Rolldown } from "vite";
import { OwnRuntime } from "../../../src/state/own-runtime.ts";
import type { RemoteCredentials, RemotePlace } from "../../../src/store/remote/remote-options.ts";

/** What the script is asked to send. */
export interface SentByRuntime {
  readonly place: RemotePlace;
  readonly credentials: RemoteCredentials;
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text in memory. */
  readonly body?: string;
  /** A stream of that many zeros. */
  readonly streamBytes?: number;
  /** The stream fails after that many bytes. */
  readonly streamBreaksAfter?: number;
  readonly idleMilliseconds?: number;
  readonly answerMilliseconds?: number;
  readonly connections?: number;
}

interface ReceivedByRuntime {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly bytes?: number;
  readonly error?: {
    readonly name: string;
    readonly failure?: string;
    readonly reason?: string;
    readonly message: string;
  };
}

const sourceFolder = fileURLToPath(new URL("../../../src/store/remote/", import.meta.url));

const script = `
import { S3Connection } from "${sourceFolder}s3-connection.ts";
import { createFetchTransport } from "${sourceFolder}fetch-transport.ts";

function zeros(bytes, breaksAfter) {
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if (sent >= (breaksAfter ?? Infinity)) throw new Error("the disk failed");
      const size = Math.min(65536, bytes - sent);
      if (size === 0) return controller.close();
      sent += size;
      controller.enqueue(new Uint8Array(size));
    },
  });
}

async function answer(request, env) {
  const sent = await request.json();
  const options = { sleep: async () => {} };
  for (const name of ["idleMilliseconds", "answerMilliseconds", "connections"]) {
    if (sent[name] !== undefined) options[name] = sent[name];
  }
  const transport = createFetchTransport(env.network);
  const connection = new S3Connection(sent.place, sent.credentials, transport, options);
  const stream = async () => ({
    stream: zeros(sent.streamBytes, sent.streamBreaksAfter),
    length: sent.streamBytes,
  });
  const body =
    sent.streamBytes !== undefined ? stream
    : sent.body !== undefined ? new TextEncoder().encode(sent.body)
    : undefined;
  try {
    const { method, key, headers } = sent;
    const result = await connection.send({ method, key, headers, body });
    const content = new Uint8Array(await new Response(result.body).arrayBuffer());
    return Response.json({
      status: result.status,
      headers: Object.fromEntries(result.headers),
      bytes: content.byteLength,
      text: content.byteLength < 10000 ? String.fromCharCode(...content) : "",
    });
  } catch ({ name, failure, reason, message }) {
    return Response.json({ error: { name, failure, reason, message } });
  }
}

export default { fetch: answer };
`;

/** One self-contained module. */
async function bundle(folder: string): Promise<string> {
  const entry = join(folder, "script.js");
  writeFileSync(entry, script);
  const output = (await build({
    configFile: false,
    logLevel: "silent",
    root: folder,
    build: { write: false, minify: false, lib: { entry, formats: ["es"], fileName: "script" } },
  })) as Rolldown.RolldownOutput[];
  return output[0]!.output[0].code;
}

export interface RemoteRuntime {
  send(sent: SentByRuntime): Promise<ReceivedByRuntime>;
  stop(): Promise<void>;
}

export async function startRemoteRuntime(
  folder: string,
  compatibilityDate = "2026-08-01",
): Promise<RemoteRuntime> {
  const path = join(folder, "socket");
  const runtime = await OwnRuntime.start({
    folder,
    config: {
      services: [
        {
          name: "main",
          worker: {
            compatibilityDate,
            modules: [{ name: "index.js", esModule: await bundle(folder) }],
            bindings: [{ name: "network", service: { name: "network" } }],
          },
        },
        {
          name: "network",
          network: { allow: ["public", "private"], tlsOptions: { trustBrowserCas: true } },
        },
      ],
      sockets: [{ name: "main", path, service: { name: "main" } }],
    },
    onStart: () => {},
    onListen: () => {},
    onOutput: () => {},
  });
  return {
    async send(sent) {
      const request = sendRequest({ socketPath: path, method: "POST" });
      request.end(JSON.stringify(sent));
      const [response] = (await once(request, "response")) as [IncomingMessage];
      return JSON.parse(await text(response)) as ReceivedByRuntime;
    },
    stop: () => runtime.stop(),
  };
}
