/** Faults of DNS queries, in the style of the faults of buckets. */
import type { Duration } from "../base/duration.ts";
import type { DnsControlStub } from "./controls.ts";
import { callDns } from "./dns-call.ts";

/** Which queries a fault hits: the queries that match every given field. */
export interface DnsFaultTarget {
  /** A name: `"www.example.org"`, or with `*` for any characters: `"*.example.org"` */
  name?: string;
  /** In place of `name`: this name and all names below it */
  zone?: string;
  /** `"A"`, or several types */
  type?: string | readonly string[];
  transport?: "udp" | "tcp" | "https";
  /** The address that the client asks: one of `hosts` in `[dns]` */
  server?: string;
  /** Only the nth matching query, counted from 1 */
  nth?: number;
  /** Only this many matching queries, from the first (or the nth) on */
  times?: number;
  /** The probability, from 0 to 1, with which the fault hits each matching query */
  probability?: number;
  /** The seed of the generator behind `probability`: 1 by default */
  seed?: number;
}

/** Which NOTIFY messages are lost. */
export type NotifyFaultTarget = Pick<
  DnsFaultTarget,
  "zone" | "nth" | "times" | "probability" | "seed"
> & {
  /** The address of the secondary */
  server?: string;
};

/** A fault in force. */
export interface DnsFault extends DnsFaultTarget {
  readonly kind: string;
  readonly by?: Duration;
  /** The number of queries that the fault matches */
  readonly matches: number;
  /** The number of queries that the fault has hit */
  readonly hits: number;
}

const path = "/ledge/query_faults";

export class DnsFaults {
  readonly #dns: () => DnsControlStub;
  /** Whether this runtime has ever had a fault: a report need not ask otherwise. */
  #isUsed = false;

  constructor(dns: () => DnsControlStub) {
    this.#dns = dns;
  }

  /** Queries get no response; over HTTPS, status 503. */
  readonly drop = (target: DnsFaultTarget = {}): Promise<void> => this.#add("drop", target);
  /** Queries are answered later. */
  readonly delay = (target: DnsFaultTarget & { by: Duration }): Promise<void> =>
    this.#add("delay", target);
  readonly servfail = (target: DnsFaultTarget = {}): Promise<void> => this.#add("servfail", target);
  readonly refused = (target: DnsFaultTarget = {}): Promise<void> => this.#add("refused", target);
  /** Responses over UDP have TC and no records. */
  readonly truncate = (target: DnsFaultTarget = {}): Promise<void> => this.#add("truncate", target);
  /** Responses have another identifier than their queries. */
  readonly wrongId = (target: DnsFaultTarget = {}): Promise<void> => this.#add("wrong_id", target);
  /** A lame delegation: the server answers as if it had no such zone. */
  readonly lame = (target: DnsFaultTarget = {}): Promise<void> => this.#add("lame", target);
  /** Answers do not follow the changes of the zones from now on. */
  readonly stale = (target: DnsFaultTarget = {}): Promise<void> => this.#add("stale", target);
  /** Answers follow the changes of the zones later. */
  readonly propagationDelay = (target: DnsFaultTarget & { by: Duration }): Promise<void> =>
    this.#add("propagation_delay", target);
  /** NOTIFY messages are not sent. */
  readonly lostNotify = (target: NotifyFaultTarget = {}): Promise<void> =>
    this.#add("lost_notify", target);

  /** Removes all faults of queries. */
  async clear(): Promise<void> {
    await callDns(this.#dns(), "DELETE", path);
  }

  /** The faults in force, with their counts. */
  async list(): Promise<readonly DnsFault[]> {
    return (await callDns(this.#dns(), "GET", path)) as readonly DnsFault[];
  }

  /** The report of a failed test; empty if no fault was set. */
  async describe(): Promise<string> {
    if (!this.#isUsed) return "";
    const faults = await this.list();
    if (faults.length === 0) return "";
    const lines = faults.map(({ kind, matches, hits, ...target }) => {
      const fields = Object.entries(target).map(([name, value]) => `${name} ${String(value)}`);
      const where = fields.length === 0 ? "all queries" : fields.join(", ");
      return `  ${kind} (${where}): matched ${matches}, hit ${hits}`;
    });
    return ["Faults of DNS queries, with the numbers of queries:", ...lines].join("\n");
  }

  async #add(kind: string, target: object): Promise<void> {
    this.#isUsed = true;
    await callDns(this.#dns(), "POST", path, { ...target, kind });
  }
}
