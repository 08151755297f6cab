/**
 * Writers of records through the record API. Each write creates a TXT record of its own, changes one
 * or deletes one; a call without an answer leaves its record unknown.
 */
import { onTestFinished } from "vitest";
import { Client, type Envelope } from "../../dns/support/client.ts";
import type { SeededRandom } from "./seed.ts";
import { zoneName } from "./tools.ts";
import { waitUntil } from "./wait.ts";

const writerCount = 4;

interface DnsRecord {
  readonly id: string;
  readonly name: string;
  readonly content: string;
}

export class DnsWriters {
  readonly #random: SeededRandom;
  /** By id: the records whose last write was acknowledged. */
  readonly #records = new Map<string, DnsRecord>();
  readonly #deleted = new Set<string>();
  /** Names of records that a call without an answer creates, changes or deletes. */
  readonly #unknown = new Set<string>();
  readonly #counts = Array.from({ length: writerCount }, () => 0);
  #running: Promise<unknown> = Promise.resolve();
  #stopping = false;
  #sequence = 0;
  #lastError: Error | undefined;
  #zone: Promise<string> | undefined;

  constructor(random: SeededRandom) {
    this.#random = random;
    onTestFinished(() => this.stop());
  }

  get acknowledged(): number {
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  start(url: string): void {
    this.#stopping = false;
    const client = new Client(url);
    this.#running = Promise.all(this.#counts.map((_, writer) => this.#run(client, writer)));
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
  }

  async waitForWrites(count: number): Promise<void> {
    const targets = this.#counts.map((acknowledged) => acknowledged + count);
    await waitUntil(
      () => this.#counts.every((acknowledged, index) => acknowledged >= (targets[index] as number)),
      () => `writers acknowledge no records: ${this.#lastError?.message}`,
    );
  }

  /** The unknown records become known. */
  async verify(url: string): Promise<{ lost: number; wrong: number; problems: string[] }> {
    const client = new Client(url);
    const path = `/zones/${await this.#zoneId(client)}/dns_records`;
    const list = (await client.ok("GET", `${path}?type=TXT&per_page=50000`)) as DnsRecord[];
    const found = new Map(list.map((record) => [record.id, record]));
    const lost: string[] = [];
    const wrong: string[] = [];
    for (const [id, { name, content }] of this.#records) {
      const record = found.get(id);
      if (this.#unknown.has(name)) continue;
      if (record === undefined) lost.push(`lost: ${name} is not there`);
      else if (record.content !== content) {
        lost.push(`lost: ${name} has the content ${record.content}, not ${content}`);
      }
    }
    for (const { id, name } of list) {
      if (this.#unknown.has(name)) continue;
      if (this.#deleted.has(id)) wrong.push(`wrong: ${name} is there, but its delete succeeded`);
      else if (!this.#records.has(id)) wrong.push(`wrong: no writer created ${name}`);
    }
    for (const name of this.#unknown) {
      for (const [id, record] of this.#records) if (record.name === name) this.#records.delete(id);
      for (const record of list) if (record.name === name) this.#records.set(record.id, record);
    }
    this.#unknown.clear();
    return { lost: lost.length, wrong: wrong.length, problems: [...lost, ...wrong] };
  }

  async #run(client: Client, writer: number): Promise<void> {
    while (!this.#stopping) {
      try {
        await this.#writeOnce(client, writer);
        (this.#counts[writer] as number)++;
      } catch (error) {
        this.#lastError = error as Error;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  async #writeOnce(client: Client, writer: number): Promise<void> {
    const path = `/zones/${await this.#zoneId(client)}/dns_records`;
    const prefix = `w${writer}-`;
    const own = [...this.#records.values()].filter(({ name }) => name.startsWith(prefix));
    const content = `"${this.#sequence}"`;
    const [existing] = own;
    const chance = this.#random.next();
    if (existing === undefined || (chance < 0.5 && own.length < 20)) {
      const name = `${prefix}${this.#sequence++}.${zoneName}`;
      await this.#unknownUntilDone(name, async () => {
        const body = { type: "TXT", name, content };
        this.#keep((await client.ok("POST", path, body)) as DnsRecord);
      });
    } else if (chance < 0.7) {
      this.#sequence++;
      await this.#unknownUntilDone(existing.name, async () => {
        this.#keep(await client.ok("PATCH", `${path}/${existing.id}`, { content }));
      });
    } else {
      await this.#unknownUntilDone(existing.name, async () => {
        await client.ok("DELETE", `${path}/${existing.id}`);
        this.#records.delete(existing.id);
        this.#deleted.add(existing.id);
      });
    }
  }

  /** A name stays unknown, and its record is not written again, when the call fails. */
  async #unknownUntilDone(name: string, call: () => Promise<void>): Promise<void> {
    this.#unknown.add(name);
    try {
      await call();
      this.#unknown.delete(name);
    } catch (error) {
      for (const [id, record] of this.#records) if (record.name === name) this.#records.delete(id);
      throw error;
    }
  }

  #keep({ id, name, content }: DnsRecord): void {
    this.#records.set(id, { id, name, content });
  }

  async #zoneId(client: Client): Promise<string> {
    this.#zone ??= client
      .ok("GET", `/zones?name=${zoneName}`)
      .then((zones: Envelope["result"]) => (zones as { id: string }[])[0]?.id as string)
      .catch((error: unknown) => {
        this.#zone = undefined;
        throw error;
      });
    return this.#zone;
  }
}
