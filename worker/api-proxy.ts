/**
 * The record API for a script whose companion worker runs in another runtime. A dev server uses it,
 * because the zones must survive a reload of the script.
 *
 * `DnsApi` behaves as `DnsApi` of the companion worker (`index.ts`): a request through a binding
 * needs no credentials. A request without credentials is sent with the owner's.
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import { hasCredentials } from "./api/access.ts";
import { faultControlPath } from "./api/fault-control.ts";

interface ProxyEnv {
  /** The port of the record API. */
  readonly API: Fetcher;
  readonly EMAIL: string;
  readonly KEY: string;
}

export class DnsApi extends WorkerEntrypoint<ProxyEnv> {
  override fetch(request: Request): Promise<Response> {
    if (hasCredentials(request.headers)) return this.env.API.fetch(request);
    const headers = this.#withCredentials(request.headers);
    return this.env.API.fetch(new Request(request, { headers }));
  }

  async setFaults(faults: unknown): Promise<void> {
    const response = await this.env.API.fetch(`http://dns${faultControlPath}`, {
      method: "PUT",
      headers: this.#withCredentials({ "content-type": "application/json" }),
      body: JSON.stringify({ faults }),
    });
    const { success, errors } = await response.json<{
      success: boolean;
      errors: { message: string }[];
    }>();
    if (!success) throw new Error(errors.map(({ message }) => message).join("; "));
  }

  #withCredentials(given: HeadersInit): Headers {
    const headers = new Headers(given);
    headers.set("x-auth-email", this.env.EMAIL);
    headers.set("x-auth-key", this.env.KEY);
    return headers;
  }
}

export default {};
