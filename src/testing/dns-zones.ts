/** DNS in tests: zones and records through the record API, and answers as resolvers receive them. */
import type { FaultTiming } from "../base/fault-schedule.ts";
import type { Duration } from "../base/format.ts";
import { rcodeName } from "../dns/wire/numbers.ts";
import type { Controls, DnsControlStub } from "./controls.ts";
import type { DnsQuery } from "./matchers.ts";

type JsonObject = Record<string, unknown>;

/** A record, as the record API takes it. */
export interface TestRecord {
  type: string;
  /** `"@"` for the zone itself */
  name: string;
  content?: string;
  ttl?: number;
  proxied?: boolean;
  priority?: number;
  data?: JsonObject;
}

/** A signature that a test breaks: those of a whole zone, or those of one name. */
export interface BrokenSignature {
  /**
   * - `expired_signature`: the signatures have ended
   * - `wrong_signature`: the signatures do not belong to the records
   * - `missing_ds`: the parent's DS record of the delegation is left out, without a proof
   */
  kind: "expired_signature" | "wrong_signature" | "missing_ds";
  zone?: string;
  name?: string;
}

/**
 * The data of the answers, in presentation format. The code tells empty lists apart: `"NXDOMAIN"` for a name
 * that does not exist, `"NOERROR"` for a name without records of the type, `"SERVFAIL"`, and `"REFUSED"` for
 * a name in no zone. The property is not enumerable, so that the list equals a plain list.
 */
export type ResolvedData = string[] & { readonly rcode: string };

interface JsonAnswer {
  readonly Status: number;
  readonly Question: readonly [{ readonly type: number }];
  readonly Answer?: readonly { readonly type: number; readonly data: string }[];
}

export class DnsZones {
  readonly #dns: () => DnsControlStub;
  /** Faults of queries. The end of the test or suite that sets a fault removes it. */
  readonly faults: DnsFaults;
  /** A request by name, to the script, public bucket or origin that the name leads to, or to a page that says what is missing. */
  readonly fetch: typeof globalThis.fetch;

  constructor(dns: () => DnsControlStub, { session, edge }: Pick<Controls, "session" | "edge">) {
    this.#dns = dns;
    this.faults = new DnsFaults(dns, session);
    this.fetch = edge?.fetch ?? refuseFetch;
  }

  /** Creates a zone with the given records. Returns the id of the zone. */
  async zone(name: string, records: readonly TestRecord[] = []): Promise<string> {
    const { id } = (await this.#call("POST", "/zones", { name })) as { id: string };
    if (records.length > 0)
      await this.#call("POST", `/zones/${id}/dns_records/batch`, { posts: records });
    return id;
  }

  /** Adds a record to a zone. Returns the record in the form of the API. */
  async add(zoneName: string, record: TestRecord): Promise<JsonObject> {
    const id = await this.#zoneId(zoneName);
    return (await this.#call("POST", `/zones/${id}/dns_records`, record)) as JsonObject;
  }

  async records(zoneName: string): Promise<JsonObject[]> {
    const id = await this.#zoneId(zoneName);
    return (await this.#call("GET", `/zones/${id}/dns_records?per_page=5000`)) as JsonObject[];
  }

  /**
   * The answers of this type that a resolver receives.
   *
   * @throws Error when a fault drops the query
   */
  async resolve(name: string, type = "A"): Promise<ResolvedData> {
    const query = new URLSearchParams({ name, type });
    const response = await this.#dns().fetch(`http://dns/dns-query?${query}`, {
      headers: { accept: "application/dns-json" },
    });
    if (!response.ok) {
      throw new Error(
        `Cannot resolve ${name} ${type}: DNS answered with status ${response.status}`,
      );
    }
    const { Status, Question, Answer = [] } = (await response.json()) as JsonAnswer;
    // The answer section may also contain aliases.
    const found = Answer.filter(({ type: each }) => each === Question[0].type);
    const data = found.map((answer) => answer.data);
    return Object.defineProperty(data, "rcode", { value: rcodeName(Status) }) as ResolvedData;
  }

  /** Signs a zone. Returns its DS record, for a trust anchor of a resolver. */
  async sign(zoneName: string): Promise<string> {
    const path = `/zones/${await this.#zoneId(zoneName)}/dnssec`;
    return ((await this.#call("PATCH", path, { status: "active" })) as { ds: string }).ds;
  }

  /**
   * Starts a roll of the keys of a signed zone. `clock.advance("2h")` ends its first stage, in which the new
   * keys are published and do not sign, and `clock.advance("27h")` the roll.
   */
  async rollKeys(zoneName: string): Promise<void> {
    await callDns(this.#dns(), "POST", "/ledge/dnssec_rolls", { zone: zoneName });
  }

  /** Lets a roll go on that waits for a parent outside: the parent has the DS record of the new key. */
  async confirmDs(zoneName: string): Promise<void> {
    const body = { zone: zoneName, ds_seen: true };
    await callDns(this.#dns(), "PATCH", "/ledge/dnssec_rolls", body);
  }

  /** The queries since the test began, or since `watchQueries()`, in the order of their answers. */
  async queries(): Promise<DnsQuery[]> {
    return (await callDns(this.#dns(), "GET", "/ledge/queries")) as DnsQuery[];
  }

  /** Starts an empty log of queries. Tests with isolation start with one. */
  async watchQueries(): Promise<void> {
    await callDns(this.#dns(), "PUT", "/ledge/queries");
  }

  /** Breaks signatures until the test ends. The given list replaces the last one. */
  async breakSignatures(...broken: readonly BrokenSignature[]): Promise<void> {
    await callDns(this.#dns(), "PUT", "/ledge/dnssec_faults", { faults: broken });
  }

  async #zoneId(name: string): Promise<string> {
    const zones = await this.#call("GET", `/zones?name=${encodeURIComponent(name)}`);
    const [zone] = zones as { id: string }[];
    if (zone !== undefined) return zone.id;
    throw new Error(`There is no zone "${name}": create it with dns.zone("${name}").`);
  }

  #call(method: string, path: string, body?: unknown): Promise<unknown> {
    return callDns(this.#dns(), method, `/client/v4${path}`, body);
  }
}

async function refuseFetch(): Promise<never> {
  throw new Error(
    "dns.fetch() exists in the vitest pool alone: ask a dev server at http://NAME.localhost:PORT/ instead.",
  );
}

/** Which queries a fault hits: the queries that match every given field. */
export interface DnsFaultTarget extends FaultTiming {
  /** A name: `"www.example.org"`, or with `*` for any characters: `"*.example.org"` */
  name?: string;
  /** In place of `name`: this name and all names below it */
  zone?: string;
  /** `"A"`, or several types */
  type?: string | readonly string[];
  /** `"tls"` is DNS over TLS. */
  transport?: "udp" | "tcp" | "tls" | "https";
  /** The address that the client asks: one of `hosts` in `[dns]` */
  server?: string;
}

/** Records in place of those of a zone. */
export interface AnswerFaultTarget extends DnsFaultTarget {
  /** The type of the records */
  type: string;
  /** The data of a record or of several, as in a zone file: `"192.0.2.1"`, `"10 mail.example.org."` */
  content: string | readonly string[];
  /** In seconds: 300 by default */
  ttl?: number;
}

/** The server is the address of the secondary. */
export type NotifyFaultTarget = FaultTiming & Pick<DnsFaultTarget, "zone" | "server">;

export interface DnsFault extends DnsFaultTarget {
  readonly kind: string;
  readonly by?: Duration;
  readonly ttl?: number;
  readonly content?: string | readonly string[];
  /** The number of queries that the fault matches */
  readonly matches: number;
  /** The number of queries that the fault has hit */
  readonly hits: number;
}

const faultsPath = "/ledge/query_faults";

type AddFault<Target = DnsFaultTarget> = (target?: Target) => Promise<void>;
type AddDelay = (target: DnsFaultTarget & { by: Duration }) => Promise<void>;

export class DnsFaults {
  readonly #dns: () => DnsControlStub;
  /** Whether this runtime has ever had a fault: a report need not ask otherwise. */
  #isUsed = false;

  readonly #session: FaultCounts | undefined;

  constructor(dns: () => DnsControlStub, session?: FaultCounts) {
    this.#dns = dns;
    this.#session = session;
  }

  /** Queries get no response; over HTTPS, status 503. */
  readonly drop: AddFault = (target) => this.#add("drop", target);
  /** Queries are answered later. */
  readonly delay: AddDelay = (target) => this.#add("delay", target);
  readonly servfail: AddFault = (target) => this.#add("servfail", target);
  readonly refused: AddFault = (target) => this.#add("refused", target);
  readonly formerr: AddFault = (target) => this.#add("formerr", target);
  readonly notimp: AddFault = (target) => this.#add("notimp", target);
  /** The name does not exist: NXDOMAIN with the zone's SOA, not signed. */
  readonly nxdomain: AddFault = (target) => this.#add("nxdomain", target);
  /** The name has no records of the type: NOERROR with the zone's SOA, not signed. */
  readonly nodata: AddFault = (target) => this.#add("nodata", target);
  /** The server does not know EDNS: a query with OPT gets FORMERR without OPT. */
  readonly noEdns: AddFault = (target) => this.#add("no_edns", target);
  /**
   * Queries of the type get these records in place of those of the zone, not signed.
   *
   * @example
   * await dns.faults.answer({ name: "www.example.org", type: "A", content: "192.0.2.66", ttl: 5 });
   */
  readonly answer = (target: AnswerFaultTarget): Promise<void> => this.#add("answer", target);
  /** All TTLs of responses are this number of seconds. */
  readonly ttl = (target: DnsFaultTarget & { ttl: number }): Promise<void> =>
    this.#add("ttl", target);
  /** Responses are octets that cannot be parsed; JSON over HTTPS is text that cannot be parsed. */
  readonly malformed: AddFault = (target) => this.#add("malformed", target);
  /** The server resets the connection. Over TCP and TLS: the server needs listeners. */
  readonly tcpReset: AddFault = (target) => this.#add("tcp_reset", target);
  /** Responses come from another port than the client has asked. Over UDP: the server needs listeners. */
  readonly otherPort: AddFault = (target) => this.#add("other_port", target);
  /** Responses over UDP have TC and no records. */
  readonly truncate: AddFault = (target) => this.#add("truncate", target);
  /** Responses have another identifier than their queries. */
  readonly wrongId: AddFault = (target) => this.#add("wrong_id", target);
  /** A lame delegation: the server answers as if it had no such zone. */
  readonly lame: AddFault = (target) => this.#add("lame", target);
  /** Answers do not follow the changes of the zones from now on. */
  readonly stale: AddFault = (target) => this.#add("stale", target);
  /** Answers follow the changes of the zones later. */
  readonly propagationDelay: AddDelay = (target) => this.#add("propagation_delay", target);
  /** NOTIFY messages are not sent. */
  readonly lostNotify: AddFault<NotifyFaultTarget> = (target) => this.#add("lost_notify", target);

  async clear(): Promise<void> {
    await callDns(this.#dns(), "DELETE", faultsPath);
    this.#session?.clearDnsFaults();
  }

  async list(): Promise<readonly DnsFault[]> {
    return (await callDns(this.#dns(), "GET", faultsPath)) as readonly DnsFault[];
  }

  /** The report of a failed test; empty if no fault was set. */
  async describe(): Promise<string> {
    if (!this.#isUsed) return "";
    const faults = await this.list();
    if (faults.length === 0) return "";
    const lines = faults.map((fault) => `  ${describeDnsFault(fault)}`);
    return ["Faults of DNS queries, with the numbers of queries:", ...lines].join("\n");
  }

  /** A line for each of the last faults that hit no query. */
  async unused(count: number): Promise<string[]> {
    const last = (await this.list()).slice(-count);
    return last.filter(({ hits }) => hits === 0).map(describeDnsFault);
  }

  async #add(kind: string, target: object = {}): Promise<void> {
    this.#isUsed = true;
    await callDns(this.#dns(), "POST", faultsPath, { ...target, kind });
    this.#session?.addDnsFault();
  }
}

/** The test or suite that sets a fault counts it, for the report of its end. */
interface FaultCounts {
  addDnsFault(): void;
  clearDnsFaults(): void;
}

function describeDnsFault({ kind, matches, hits, ...target }: DnsFault): string {
  const fields = Object.entries(target).map(([name, value]) => `${name} ${String(value)}`);
  const where = fields.length === 0 ? "all queries" : fields.join(", ");
  return `${kind} (${where}): matched ${matches}, hit ${hits}`;
}

interface Envelope {
  readonly success: boolean;
  readonly errors: readonly { readonly code: number; readonly message: string }[];
  readonly result: unknown;
}

/**
 * The result of a call.
 *
 * @param path with its root: `/client/v4/zones`, `/ledge/queries`
 * @throws Error with the messages of the API
 */
async function callDns(
  dns: DnsControlStub,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const response = await dns.fetch(`http://dns${path}`, {
    method,
    headers: { "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const { success, errors, result } = (await response.json()) as Envelope;
  if (success) return result;
  const messages = errors.map(({ code, message }) => `${message} (${code})`);
  throw new Error(`${method} ${path.replace("/client/v4", "")}: ${messages.join("; ")}`);
}
