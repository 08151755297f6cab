/** A client of the record API. Its errors carry the messages and codes of the API. */
import { NotFoundError, UserError } from "../../base/user-error.ts";
import type { CountedFault } from "../fault/armed-faults.ts";
import type { QueryFaultInput } from "../fault/query-fault.ts";
import type { LoggedQuery } from "../fault/query-log.ts";

export interface Credentials {
  readonly email: string;
  readonly key: string;
  readonly token?: string;
}

export interface ApiZone {
  readonly id: string;
  readonly name: string;
  readonly name_servers: readonly string[];
}

export interface ApiRecord {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly content: string;
  readonly priority?: number;
  readonly ttl: number;
  readonly proxied: boolean;
  readonly comment: string | null;
  readonly tags: readonly string[];
  readonly modified_on: string;
}

/** The state of DNSSEC; without keys most fields are `null`. */
export interface ApiDnssec {
  readonly status: "active" | "pending" | "disabled";
  readonly ds: string | null;
  readonly key_tag: number | null;
  readonly modified_on: string | null;
}

/** An entry of the log of queries. */
export type ApiQuery = Omit<LoggedQuery, "milliseconds" | "startedMilliseconds" | "client"> & {
  /** When the answer was ready. */
  readonly time: string;
  readonly durationMilliseconds: number;
};

/** A roll of the keys of a zone (`src/dns/dnssec/key-roll.ts`). */
export interface ApiRoll {
  readonly stage: "publish" | "replace";
  /** The end of the stage; `null`: the parent's DS record is awaited. */
  readonly until: string | null;
  readonly awaits_ds: boolean;
  readonly old: Readonly<Record<"ksk" | "zsk", number>>;
  readonly new: Readonly<Record<"ksk" | "zsk", number>>;
}

export interface ApiProblem {
  readonly code: number;
  readonly message: string;
  readonly error_chain?: readonly ApiProblem[];
}

export interface ImportResult {
  readonly recs_added: number;
  readonly total_records_parsed: number;
  /** What the API changed. */
  readonly remarks: readonly string[];
}

export class ApiError extends UserError {
  readonly problems: readonly ApiProblem[];

  constructor(problems: readonly ApiProblem[]) {
    super(describeProblems(problems));
    this.problems = problems;
  }
}

interface Envelope {
  readonly result: unknown;
  readonly success: boolean;
  readonly errors: readonly ApiProblem[];
  readonly messages: readonly ApiProblem[];
  readonly result_info?: { readonly total_pages?: number };
}

type Json = Readonly<Record<string, unknown>>;

/** A larger page could exceed the size limit of a reply. */
const recordsPerPage = 5000;
const zonesPerPage = 1000;
/** The controls are beside `/client/v4` (`worker/api/controls.ts`). */
const controlsPath = "/ledge/";
const queryFaultsPath = `${controlsPath}query_faults`;
const rollsPath = `${controlsPath}dnssec_rolls`;
const credentialCodes = new Set([6003, 9103, 9106, 9109, 10000]);

function describeProblems(problems: readonly ApiProblem[]): string {
  const lines = problems.flatMap((problem) =>
    [problem, ...(problem.error_chain ?? [])].map(({ message, code }) => `${message} (${code})`),
  );
  if (problems.some(({ code }) => credentialCodes.has(code))) {
    lines.push("Give the server's --email and --key, or a --token that may do this.");
  }
  return lines.join("\n");
}

/** The part of `fetch()` that a client of the API uses. */
export type Fetch = (url: string, init: ApiRequest) => Promise<ApiResponse>;

export interface ApiRequest {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | FormData;
}

export interface ApiResponse {
  readonly ok: boolean;
  readonly status: number;
  text(): Promise<string>;
}

export class ApiClient {
  readonly url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #transport: Fetch;

  /**
   * @param url ends in `/client/v4`
   * @param credentials `null` for a server that needs none
   */
  constructor(url: string, credentials: Credentials | null, transport: Fetch = fetch) {
    this.url = url;
    this.#headers = credentials === null ? {} : credentialHeaders(credentials);
    this.#transport = transport;
  }

  zones(): Promise<ApiZone[]> {
    return this.#pages(`/zones?per_page=${zonesPerPage}`);
  }

  async zoneNamed(name: string): Promise<ApiZone | null> {
    // Without the operator, a name with a colon could be read as one.
    const query = new URLSearchParams({ name: `equal:${name}` });
    const [zone = null] = await this.#call<ApiZone[]>("GET", `/zones?${query.toString()}`);
    return zone;
  }

  zone(id: string): Promise<ApiZone> {
    return this.#call("GET", `/zones/${id}`);
  }

  createZone(name: string): Promise<ApiZone> {
    return this.#call("POST", "/zones", { name });
  }

  async deleteZone(id: string): Promise<void> {
    await this.#call("DELETE", `/zones/${id}`);
  }

  async recordCount(zoneId: string): Promise<number> {
    const path = `/zones/${zoneId}/dns_records/usage`;
    return (await this.#call<{ record_usage: number }>("GET", path)).record_usage;
  }

  records(zoneId: string, filter: Readonly<Record<string, string>>): Promise<ApiRecord[]> {
    const query = new URLSearchParams({
      ...filter,
      order: "name",
      per_page: String(recordsPerPage),
    });
    return this.#pages(`/zones/${zoneId}/dns_records?${query.toString()}`);
  }

  createRecord(zoneId: string, record: Json): Promise<ApiRecord> {
    return this.#call("POST", `/zones/${zoneId}/dns_records`, record);
  }

  async batch(
    zoneId: string,
    batch: { readonly deletes?: readonly Json[]; readonly patches?: readonly Json[] },
  ): Promise<{ readonly patches: readonly ApiRecord[] }> {
    const path = `/zones/${zoneId}/dns_records/batch`;
    try {
      const { patches = [] } = await this.#call<{ patches?: ApiRecord[] }>("POST", path, batch);
      return { patches };
    } catch (error) {
      // The user of a command knows of no batch: `patches[0]: ` would not tell anything.
      if (!(error instanceof ApiError)) throw error;
      throw new ApiError(
        error.problems.map(({ code, message }) => ({
          code,
          message: message.replace(/^[a-z]+\[\d+\]: /, ""),
        })),
      );
    }
  }

  async importFile(
    zoneId: string,
    text: string,
    { proxied }: { readonly proxied: boolean },
  ): Promise<ImportResult> {
    const body = new FormData();
    body.set("file", new Blob([text]), "zone");
    body.set("proxied", String(proxied));
    const path = `/zones/${zoneId}/dns_records/import`;
    const { result, messages } = await this.#send(path, { method: "POST", body });
    const remarks = messages.map(({ message }) => message);
    return { ...(result as Omit<ImportResult, "remarks">), remarks };
  }

  async exportFile(zoneId: string): Promise<string> {
    const response = await this.#fetch(`/zones/${zoneId}/dns_records/export`, {});
    return response.ok ? response.text() : ((await this.#read(response)).result as string);
  }

  dnssec(zoneId: string): Promise<ApiDnssec> {
    return this.#call("GET", `/zones/${zoneId}/dnssec`);
  }

  changeDnssec(zoneId: string, status: "active" | "disabled"): Promise<ApiDnssec> {
    return this.#call("PATCH", `/zones/${zoneId}/dnssec`, { status });
  }

  /** `null` when no roll is in progress. */
  roll(zoneName: string): Promise<ApiRoll | null> {
    return this.#call("GET", `${rollsPath}?${new URLSearchParams({ zone: zoneName }).toString()}`);
  }

  startRoll(
    zone: string,
    options: { readonly keys?: string | undefined; readonly pace_seconds?: number | undefined },
  ): Promise<ApiRoll> {
    return this.#call("POST", rollsPath, { zone, ...options });
  }

  /** The parent has the DS record of the new key. */
  confirmDs(zone: string): Promise<ApiRoll> {
    return this.#call("PATCH", rollsPath, { zone, ds_seen: true });
  }

  queryFaults(): Promise<CountedFault[]> {
    return this.#call("GET", queryFaultsPath);
  }

  addQueryFault(fault: QueryFaultInput): Promise<CountedFault[]> {
    return this.#call("POST", queryFaultsPath, { ...fault });
  }

  /** Resolves to the faults that a connection holds, which stay. */
  clearQueryFaults(): Promise<CountedFault[]> {
    return this.#call("DELETE", queryFaultsPath);
  }

  /** The queries that were answered since a time, as far as the server keeps them. */
  queries(sinceMilliseconds: number): Promise<ApiQuery[]> {
    return this.#call("GET", `${controlsPath}queries?since=${sinceMilliseconds}`);
  }

  async #pages<Item>(path: string): Promise<Item[]> {
    const all: Item[] = [];
    for (let page = 1; ; page++) {
      const { result, result_info } = await this.#send(`${path}&page=${page}`, {});
      all.push(...(result as Item[]));
      if (page >= (result_info?.total_pages ?? 1)) return all;
    }
  }

  async #call<Result>(method: string, path: string, body?: Json): Promise<Result> {
    const headers = { "content-type": "application/json" };
    const json = body === undefined ? {} : { headers, body: JSON.stringify(body) };
    return (await this.#send(path, { method, ...json })).result as Result;
  }

  async #send(path: string, init: ApiRequest): Promise<Envelope> {
    return this.#read(await this.#fetch(path, init));
  }

  async #fetch(path: string, init: ApiRequest): Promise<ApiResponse> {
    try {
      const headers = { ...this.#headers, ...init.headers };
      const isControl = path.startsWith(controlsPath);
      const url = isControl ? new URL(path, this.url).href : `${this.url}${path}`;
      return await this.#transport(url, { ...init, headers });
    } catch (error) {
      if (error instanceof UserError) throw error;
      const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException };
      const reason = cause?.code ?? cause?.message ?? message;
      throw new UserError(`Cannot reach the DNS API at ${this.url}: ${reason}.`, { cause: error });
    }
  }

  async #read(response: ApiResponse): Promise<Envelope> {
    const text = await response.text();
    let envelope: Envelope | null = null;
    try {
      envelope = JSON.parse(text) as Envelope | null;
    } catch {
      // Another program answers.
    }
    if (!Array.isArray(envelope?.errors)) {
      throw new UserError(
        `${this.url} does not answer as the DNS API does (HTTP ${response.status}). Is --url right?`,
      );
    }
    if (envelope.success) return envelope;
    if (response.status === 404) throw new NotFoundError(describeProblems(envelope.errors));
    throw new ApiError(envelope.errors);
  }
}

function credentialHeaders({ email, key, token }: Credentials): Record<string, string> {
  return token === undefined
    ? { "x-auth-email": email, "x-auth-key": key }
    : { authorization: `Bearer ${token}` };
}
