/**
 * Faults of buckets on an S3 service: several runtimes share the buckets, and nothing but the service orders their
 * calls. Runtimes are killed, and a proxy between the runtimes and the service loses requests and answers.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startFaultyProxy, type ProxyFault, type ProxyRule } from "../../support/faulty-proxy.ts";
import { remoteOptions, type RemoteService } from "../../support/remote-bucket.ts";
import { temporaryFolder } from "../../support/store.ts";
import { expectLinearizable, History, scriptBucket, waitForAnswers } from "./history.ts";
import { callScript } from "./http-call.ts";
import { isLong, SeededRandom } from "./seed.ts";
import { startMiniflare, type Tool } from "./tools.ts";

const callsPerClient = isLong ? 1000 : 30;
const kills = isLong ? 20 : 2;
const names = ["first", "second"] as const;

/** Two runtimes with state folders of their own, as on two machines. They share a bucket. */
export class TwoRuntimes {
  readonly #folder = temporaryFolder();
  readonly #bucketOptions: string;
  readonly #tools = new Map<string, Tool>();

  constructor(service: Omit<RemoteService, "name">) {
    const options = { bucket_name: "faults", ...remoteOptions(service, `${randomUUID()}/`) };
    this.#bucketOptions = JSON.stringify(options);
  }

  async start(): Promise<void> {
    for (const name of names) await this.#start(name);
  }

  async #start(name: string): Promise<void> {
    const environment = { LEDGE_TEST_BUCKET: this.#bucketOptions };
    this.#tools.set(name, await startMiniflare(join(this.#folder, name), { environment }));
  }

  url(name: (typeof names)[number]): string {
    return this.#tools.get(name)?.url as string;
  }

  async kill(name: (typeof names)[number]): Promise<void> {
    await this.#tools.get(name)?.process.killAll();
    await this.#start(name);
  }

  /** Two clients of each runtime. @returns their names */
  startClients(history: History): string[] {
    return names.flatMap((name) =>
      [1, 2].map((number) => {
        history.start(
          `${name}/${number}`,
          scriptBucket(() => this.url(name)),
        );
        return `${name}/${number}`;
      }),
    );
  }
}

/** The faults of the proxy. A delay keeps a request for longer than others take. */
const faults: readonly ProxyFault[] = [
  { kind: "delay", milliseconds: 30 },
  { kind: "drop" },
  { kind: "lost answer" },
  { kind: "truncated answer" },
  { kind: "error", status: 500, isExecuted: true },
  { kind: "error", status: 500, isExecuted: false },
  { kind: "error", status: 503, isExecuted: false },
];

/** One request of ten has a fault. The kinds follow each other, so that each occurs. */
function randomFaults(random: SeededRandom): ProxyRule {
  let count = 0;
  return () => (random.next() < 0.1 ? (faults[count++ % faults.length] as ProxyFault) : null);
}

/**
 * Errors of calls through the proxy name the service, and say what happened. The body of a large object can
 * only break off, because the script's response has begun.
 */
const clearError = /remote "cluster"|S3 service|^aborted$/;

export function remoteFaultSuite(name: string, service: () => Promise<RemoteService>): void {
  describe(`two runtimes on ${name}`, { timeout: isLong ? 3_600_000 : 300_000 }, () => {
    it("see each other's writes at once", async () => {
      const runtimes = new TwoRuntimes(await service());
      await runtimes.start();
      for (let round = 0; round < (isLong ? 200 : 10); round++) {
        const [writer, reader] = round % 2 === 0 ? names : names.toReversed();
        const key = `key-${round % 3}`;
        const at = (runtime: typeof writer): string => `${runtimes.url(runtime)}/${key}`;
        const body = Buffer.from(`round ${round}`);
        await callScript(at(writer), { method: "PUT", body });
        expect((await callScript(at(reader))).body).toEqual(body);
        const listed = (await callScript(`${runtimes.url(reader)}/?list`)).body.toString();
        expect(JSON.parse(listed)).toContainEqual(expect.objectContaining({ key }));
        await callScript(at(reader), { method: "DELETE" });
        expect((await callScript(at(writer))).status).toBe(404);
      }
    });

    it("have histories that are linearizable, also while runtimes are killed", async () => {
      const random = new SeededRandom("remote");
      const runtimes = new TwoRuntimes(await service());
      await runtimes.start();
      const calm = new History("calm", random);
      await waitForAnswers(calm, runtimes.startClients(calm), callsPerClient);
      await expectLinearizable(calm, `remote: ${name}, without faults`);
      expect(calm.errors).toEqual([]);

      const killed = new History("killed", random);
      const clients = runtimes.startClients(killed);
      for (let kill = 0; kill < kills; kill++) {
        await waitForAnswers(killed, clients, random.integer(3, 20));
        await runtimes.kill(names[kill % 2] as (typeof names)[number]);
        await waitForAnswers(killed, clients, 3);
      }
      await expectLinearizable(killed, `remote: ${name}, kills of runtimes`);
    });

    it("put one key 200 times at once: no put fails, and each costs at most 3 requests", async () => {
      const running = await service();
      const proxy = await startFaultyProxy(running.endpoint);
      onTestFinished(() => proxy.close());
      const runtimes = new TwoRuntimes({ ...running, endpoint: proxy.endpoint });
      await runtimes.start();
      // Connections and isolates are there before the count.
      for (const runtime of names) {
        await callScript(`${runtimes.url(runtime)}/warm`, {
          method: "PUT",
          body: Buffer.from("1"),
        });
      }
      const before = proxy.log.length;
      const bodies = Array.from({ length: 200 }, (_, number) => Buffer.from(`value ${number}`));
      const answers = await Promise.all(
        bodies.map((body, number) =>
          callScript(`${runtimes.url(names[number % 2 === 0 ? 0 : 1])}/hot`, {
            method: "PUT",
            body,
          }),
        ),
      );
      const requests = proxy.log.slice(before).length;
      expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
      expect(requests).toBeLessThanOrEqual(3 * bodies.length);
      const { body } = await callScript(`${runtimes.url("first")}/hot`);
      expect(bodies.map(String)).toContain(String(body));
    });

    it("have histories that are linearizable through a proxy that loses and delays", async () => {
      const random = new SeededRandom("remote proxy");
      const running = await service();
      const proxy = await startFaultyProxy(running.endpoint);
      onTestFinished(() => proxy.close());
      const runtimes = new TwoRuntimes({ ...running, endpoint: proxy.endpoint });
      await runtimes.start();
      proxy.setRule(randomFaults(random));
      // A put of a new key whose answer is lost is sent again when there is no object: also when a delete of
      // another client came between (A-B-A, docs/deviations.md).
      const history = new History("proxy", random, { hasDeletes: false });
      await waitForAnswers(history, runtimes.startClients(history), callsPerClient);
      proxy.setRule(() => null);
      await expectLinearizable(history, `remote: ${name}, faulty proxy`);
      expect(history.errors.filter(({ message }) => !clearError.test(message))).toEqual([]);
      const kinds = new Set(proxy.log.flatMap(({ fault }) => fault ?? []));
      expect([...kinds].sort()).toEqual([...new Set(faults.map(({ kind }) => kind))].sort());
    });
  });
}
