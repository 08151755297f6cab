/** A client of the record API over plain HTTP, which shows what an SDK would hide. */
import { checkedFetch } from "./openapi.ts";

export const email = "dev@ledge.local";
export const key = "0123456789abcdef0123456789abcdef01234";
export const credentials = { "x-auth-email": email, "x-auth-key": key };

export interface Envelope {
  readonly result: any; // oxlint-disable-line typescript/no-explicit-any -- any result of the API
  readonly success: boolean;
  readonly errors: readonly {
    readonly code: number;
    readonly message: string;
    readonly error_chain?: readonly { readonly code: number; readonly message: string }[];
  }[];
  readonly messages: readonly unknown[];
  readonly result_info?: Record<string, number>;
  readonly timing?: Record<string, unknown>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Envelope;
}

export class Client {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, headers: Readonly<Record<string, string>> = credentials) {
    this.#url = url;
    this.#headers = headers;
  }

  /** Sends a body unchanged. */
  async send(method: string, path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await checkedFetch(`${this.#url}${path}`, {
      ...init,
      method,
      headers: {
        // workerd closes a connection that was idle for 5 s. On a busy machine the next request may
        // be on its way in that moment, and no client may repeat a POST by itself.
        connection: "close",
        ...this.#headers,
        ...(init.headers as Record<string, string>),
      },
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    const body = (isJson ? JSON.parse(text) : null) as Envelope;
    return { status: response.status, headers: response.headers, text, body };
  }

  async call(method: string, path: string, body?: unknown): Promise<Answer> {
    if (body === undefined) return this.send(method, path);
    const headers = { "content-type": "application/json" };
    return this.send(method, path, { headers, body: JSON.stringify(body) });
  }

  /** The result of a call that must succeed. */
  async ok(method: string, path: string, body?: unknown): Promise<Envelope["result"]> {
    const answer = await this.call(method, path, body);
    if (!answer.body.success) throw new Error(`${method} ${path}: ${answer.text}`);
    return answer.body.result;
  }

  async createZone(name: string): Promise<string> {
    const zone = (await this.ok("POST", "/zones", { name })) as { id: string };
    return zone.id;
  }

  async importFile(zoneId: string, file: string, proxied?: string): Promise<Answer> {
    const form = new FormData();
    form.set("file", file);
    if (proxied !== undefined) form.set("proxied", proxied);
    return this.send("POST", `/zones/${zoneId}/dns_records/import`, { body: form });
  }

  async exportFile(zoneId: string): Promise<string> {
    return (await this.send("GET", `/zones/${zoneId}/dns_records/export`)).text;
  }

  /** The serial of the zone's SOA, read from the export. */
  async serial(zoneId: string): Promise<number> {
    const soa = /\tSOA\t\S+ \S+ (\d+) /.exec(await this.exportFile(zoneId));
    return Number(soa![1]);
  }
}
