/** DNS in tests: zones and records through the record API, and answers as resolvers receive them. */
import type { DnsControlStub } from "./controls.ts";
import { callDns } from "./dns-call.ts";
import { DnsFaults } from "./dns-faults.ts";
import type { DnsQuery } from "./query-matchers.ts";

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

/** An answer of DNS over HTTPS in its JSON form. */
interface JsonAnswer {
  readonly Question: readonly [{ readonly type: number }];
  readonly Answer?: readonly { readonly type: number; readonly data: string }[];
}

export class DnsZones {
  readonly #dns: () => DnsControlStub;
  /** Faults of queries. The end of the test or suite that sets a fault removes it. */
  readonly faults: DnsFaults;

  constructor(dns: () => DnsControlStub) {
    this.#dns = dns;
    this.faults = new DnsFaults(dns);
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

  /** The answers of this type that a resolver receives, in presentation format. */
  async resolve(name: string, type = "A"): Promise<string[]> {
    const query = new URLSearchParams({ name, type });
    const response = await this.#dns().fetch(`http://dns/dns-query?${query}`, {
      headers: { accept: "application/dns-json" },
    });
    if (!response.ok) {
      throw new Error(
        `Cannot resolve ${name} ${type}: DNS answered with status ${response.status}`,
      );
    }
    const { Question, Answer = [] } = (await response.json()) as JsonAnswer;
    // The answer section may also contain aliases.
    return Answer.filter(({ type: each }) => each === Question[0].type).map(({ data }) => data);
  }

  /** Signs a zone. Returns its DS record, for a trust anchor of a resolver. */
  async sign(zoneName: string): Promise<string> {
    const path = `/zones/${await this.#zoneId(zoneName)}/dnssec`;
    return ((await this.#call("PATCH", path, { status: "active" })) as { ds: string }).ds;
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
