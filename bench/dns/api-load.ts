/** Load on the record API. */
import { Agent, request } from "node:http";
import { credentials } from "../../test/dns/support/client.ts";

export const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** Uses node:http, because fetch costs more time for each call than the server does. */
export function call(url: string, method: string, body?: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      ...credentials,
      ...(text === undefined
        ? {}
        : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
    };
    const sent = request(url, { method, headers, agent }, (response) => {
      response.resume();
      response.on("end", () =>
        response.statusCode === 200
          ? resolve()
          : reject(new Error(`${method} ${url}: ${response.statusCode}`)),
      );
    });
    sent.on("error", reject);
    sent.end(text);
  });
}

/** Measures calls per second, with a number of concurrent callers. */
export async function measure({
  concurrency,
  seconds,
  work,
}: {
  readonly concurrency: number;
  readonly seconds: number;
  readonly work: (index: number) => Promise<void>;
}): Promise<number> {
  for (let index = 0; index < 20; index++) await work(index);
  let done = 20;
  const start = performance.now();
  const end = start + seconds * 1000;
  const runner = async () => {
    while (performance.now() < end) await work(done++);
  };
  await Promise.all(Array.from({ length: concurrency }, runner));
  return ((done - 20) * 1000) / (performance.now() - start);
}
