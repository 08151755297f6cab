/**
 * Creates, gets and lists a second over HTTP, in zones of 100, 10,000 and 100,000 records. What
 * is measured is the whole way: HTTP into workerd, the worker, the zone's object, the disk.
 */
import { Agent, request } from "node:http";
import { parseArgs } from "node:util";
import { Client, credentials } from "../test/dns/support/client.ts";
import { startServer } from "../test/dns/support/server.ts";

const { values: options } = parseArgs({
  options: {
    sizes: { type: "string", default: "100,10000,100000" },
    seconds: { type: "string", default: "1.5" },
    concurrency: { type: "string", default: "1,16" },
  },
});
const sizes = options.sizes.split(",").map(Number);
const seconds = Number(options.seconds);
const BATCH = 3500;

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** node:http, because fetch would spend more on each call than the server does. */
function call(url: string, method: string, body?: unknown): Promise<void> {
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

async function measure(
  concurrency: number,
  work: (index: number) => Promise<void>,
): Promise<number> {
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

function record(index: number) {
  const name = `host-${index}`;
  if (index % 10 === 0)
    return { type: "TXT", name, content: `text ${index}`, tags: [`n:${index % 100}`] };
  return {
    type: "A",
    name,
    content: `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`,
    ttl: 300,
  };
}

const server = await startServer();
const client = new Client(server.url);
const rows: Record<string, string | number>[] = [];
try {
  for (const size of sizes) {
    const zone = `bench-${size}.example`;
    const zoneId = await client.createZone(zone);
    const path = `/zones/${zoneId}/dns_records`;
    const ids: string[] = [];
    for (let from = 0; from < size; from += BATCH) {
      const length = Math.min(BATCH, size - from);
      const posts = Array.from({ length }, (_, offset) => record(from + offset));
      const made = await client.ok("POST", `${path}/batch`, { posts });
      for (const { id } of made.posts) ids.push(id);
    }
    const url = `${server.url}${path}`;
    const any = (index: number) => (index * 7919) % size;
    const operations: Record<string, (index: number) => Promise<void>> = {
      "user (no zone: the floor)": () => call(`${server.url}/user`, "GET"),
      get: (index) => call(`${url}/${ids[any(index)]!}`, "GET"),
      "list name=": (index) => call(`${url}?name=host-${any(index)}.${zone}`, "GET"),
      "list content=": (index) =>
        call(`${url}?content=text%20${any(index) - (any(index) % 10)}`, "GET"),
      "list type=TXT": () => call(`${url}?type=TXT&per_page=20`, "GET"),
      "list page of 100": (index) =>
        call(`${url}?page=${1 + (index % Math.ceil(size / 100))}`, "GET"),
      // Last, so that the others find the zone at its size.
      create: () => call(url, "POST", { ...record(1), name: `new-${crypto.randomUUID()}` }),
    };
    for (const [operation, work] of Object.entries(operations)) {
      const row: Record<string, string | number> = { records: size, operation };
      for (const concurrency of options.concurrency.split(",").map(Number)) {
        row[`${concurrency} at once, a second`] = Math.round(await measure(concurrency, work));
      }
      rows.push(row);
    }
  }
  console.table(rows);
} finally {
  agent.destroy();
  await server.stop();
}
