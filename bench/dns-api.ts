/**
 * Creates, gets and lists per second over HTTP, in zones of 100, 10,000 and 100,000 records. The
 * measurement covers HTTP into workerd, the worker, the zone's object, the disk, and the listeners.
 * The cost of listeners for a create is measured in turns with a server without listeners.
 */
import { parseArgs } from "node:util";
import { startTestDns } from "../test/dns/support/running-dns.ts";
import { agent, call, measure } from "./dns/api-load.ts";
import { measureListeners } from "./dns/listener-cost.ts";

const { values: options } = parseArgs({
  options: {
    sizes: { type: "string", default: "100,10000,100000" },
    seconds: { type: "string", default: "1.5" },
    concurrency: { type: "string", default: "1,16" },
  },
});
const sizes = options.sizes.split(",").map(Number);
const seconds = Number(options.seconds);
const batch = 3500;

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

const server = await startTestDns();
const { client } = server;
const { url: apiUrl } = server.dns;
const rows: Record<string, string | number>[] = [];
try {
  for (const size of sizes) {
    const zone = `bench-${size}.example`;
    const zoneId = await client.createZone(zone);
    const path = `/zones/${zoneId}/dns_records`;
    const ids: string[] = [];
    for (let from = 0; from < size; from += batch) {
      const length = Math.min(batch, size - from);
      const posts = Array.from({ length }, (_, offset) => record(from + offset));
      const made = await client.ok("POST", `${path}/batch`, { posts });
      for (const { id } of made.posts) ids.push(id);
    }
    const url = `${apiUrl}${path}`;
    const any = (index: number) => (index * 7919) % size;
    const operations: Record<string, (index: number) => Promise<void>> = {
      "user (no zone: the floor)": () => call(`${apiUrl}/user`, "GET"),
      get: (index) => call(`${url}/${ids[any(index)]!}`, "GET"),
      "list name=": (index) => call(`${url}?name=host-${any(index)}.${zone}`, "GET"),
      "list content=": (index) =>
        call(`${url}?content=text%20${any(index) - (any(index) % 10)}`, "GET"),
      "list type=TXT": () => call(`${url}?type=TXT&per_page=20`, "GET"),
      "list page of 100": (index) =>
        call(`${url}?page=${1 + (index % Math.ceil(size / 100))}`, "GET"),
      // Last, so that gets and lists run on a zone of the stated size.
      create: () => call(url, "POST", { ...record(1), name: `new-${crypto.randomUUID()}` }),
    };
    for (const [operation, work] of Object.entries(operations)) {
      const row: Record<string, string | number> = { records: size, operation };
      for (const concurrency of options.concurrency.split(",").map(Number)) {
        row[`${concurrency} at once, a second`] = Math.round(
          await measure({ concurrency, seconds, work }),
        );
      }
      rows.push(row);
    }
  }
  console.table(rows);
} finally {
  await server.stop();
}
try {
  console.log("\nCreates, one after another, by their listeners (medians of the turns)");
  console.table(await measureListeners({ seconds }));
} finally {
  agent.destroy();
}
