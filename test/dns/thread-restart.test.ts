/** A listener thread that ends is started again: with the zones, the faults and the port of before. */
import { syncBuiltinESMExports } from "node:module";
import workerThreads, { Worker } from "node:worker_threads";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { Client } from "./support/client.ts";
import { TcpClient, UdpClient } from "./support/dns-client.ts";
import { startTestDns, type TestDns } from "./support/running-dns.ts";

/** The listener threads, in the order of their starts. */
const threads: Worker[] = [];
/** The threads that have bound their sockets */
const bound = new Set<Worker>();

class WatchedWorker extends Worker {
  constructor(...args: ConstructorParameters<typeof Worker>) {
    super(...args);
    if (!String(args[0]).includes("dns-listener")) return;
    threads.push(this);
    this.on("message", ({ result }: { result?: { hosts?: unknown } }) => {
      if (result?.hosts !== undefined) bound.add(this);
    });
  }
}

let server: TestDns;
let zonePath: string;

beforeAll(async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  workerThreads.Worker = WatchedWorker;
  syncBuiltinESMExports();
  server = await startTestDns({
    threads: 2,
    zones: [{ name: "example.org", records: [{ type: "A", name: "www", content: "192.0.2.1" }] }],
  });
  const [zone] = (await server.client.ok("GET", "/zones?name=example.org")) as { id: string }[];
  zonePath = `/zones/${zone!.id}/dns_records`;
  const control = new Client(`${new URL(server.dns.url).origin}/ledge`);
  await control.ok("PUT", "/query_faults", { faults: [{ kind: "refused", type: "AAAA" }] });
});
afterAll(async () => {
  await server.stop();
  workerThreads.Worker = Worker;
  syncBuiltinESMExports();
  vi.restoreAllMocks();
});

/** The codes of the answers to many clients, which the kernel distributes over the threads. */
async function askEveryThread(name: string, type: "A" | "AAAA"): Promise<string[]> {
  const clients = Array.from({ length: 24 }, () => new UdpClient(server.port));
  const answers = await Promise.all(clients.map((client) => client.ask(name, type)));
  for (const client of clients) client.close();
  return [...new Set(answers.map((answer) => (answer as unknown as { rcode: string }).rcode))];
}

async function endThread(thread: Worker): Promise<void> {
  const count = bound.size;
  await thread.terminate();
  await expect.poll(() => bound.size, { timeout: 60_000 }).toBe(count + 1);
}

async function expectService(name: string): Promise<void> {
  expect(await askEveryThread(`${name}.example.org`, "A")).toEqual(["NXDOMAIN"]);
  await server.client.ok("POST", zonePath, { type: "A", name, content: "192.0.2.2" });
  expect(await askEveryThread(`${name}.example.org`, "A")).toEqual(["NOERROR"]);
  expect(await askEveryThread("www.example.org", "A")).toEqual(["NOERROR"]);
  expect(await askEveryThread("www.example.org", "AAAA")).toEqual(["REFUSED"]);
  const tcp = await TcpClient.connect(server.port);
  expect((await tcp.ask("www.example.org", "A")).answers).toHaveLength(1);
  tcp.close();
}

it("another thread than the first", async () => {
  expect([threads.length, bound.size]).toEqual([2, 2]);
  await endThread(threads[1]!);
  expect(threads).toHaveLength(3);
  await expectService("one");
});

it("the first thread, which has TCP and receives the changes", async () => {
  await endThread(threads[0]!);
  expect(threads).toHaveLength(4);
  await expectService("two");
});

it("each thread again, also after the other", async () => {
  await endThread(threads[2]!);
  await endThread(threads[3]!);
  expect(threads).toHaveLength(6);
  await expectService("three");
});
