/**
 * The record API of a companion worker that runs in another runtime: what a script is bound to
 * beside a dev server, where the zones must outlive a script's reload.
 *
 * It behaves as `DnsApi` does there. A binding needs no credentials and may have some, so the
 * owner's go along with a request that brings none.
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import { hasCredentials } from "./api/access.ts";
import { faultControlPath } from "./api/fault-control.ts";

interface Env {
  /** The port of the API. */
  readonly API: Fetcher;
  readonly EMAIL: string;
  readonly KEY: string;
}

export class DnsApi extends WorkerEntrypoint<Env> {
  override fetch(request: Request): Promise<Response> {
    if (hasCredentials(request.headers)) return this.env.API.fetch(request);
    return this.env.API.fetch(new Request(request, { headers: this.#owner(request.headers) }));
  }

  async setFaults(faults: unknown): Promise<void> {
    const response = await this.env.API.fetch(`http://dns${faultControlPath}`, {
      method: "PUT",
      headers: this.#owner({ "content-type": "application/json" }),
      body: JSON.stringify({ faults }),
    });
    const { success, errors } = await response.json<{
      success: boolean;
      errors: { message: string }[];
    }>();
    if (!success) throw new Error(errors.map(({ message }) => message).join("; "));
  }

  #owner(given: HeadersInit): Headers {
    const headers = new Headers(given);
    headers.set("x-auth-email", this.env.EMAIL);
    headers.set("x-auth-key", this.env.KEY);
    return headers;
  }
}

export default {};
