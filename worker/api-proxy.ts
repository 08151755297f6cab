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

/** `fetch()` needs a host, and the port answers loopback names. */
const apiOrigin = "http://localhost";

interface ProxyEnv {
  /** The port of the record API. */
  readonly API: Fetcher;
  readonly EMAIL: string;
  readonly KEY: string;
}

export class DnsApi extends WorkerEntrypoint<ProxyEnv> {
  override fetch(request: Request): Promise<Response> {
    const headers = hasCredentials(request.headers)
      ? new Headers(request.headers)
      : this.#withCredentials(request.headers);
    // The port refuses requests of foreign pages (`base/host-rule.ts`). A script may name any host,
    // and may pass on the request of a page: the binding is the script's.
    headers.delete("origin");
    const { pathname, search } = new URL(request.url);
    return this.env.API.fetch(
      new Request(apiOrigin + pathname + search, new Request(request, { headers })),
    );
  }

  async setFaults(faults: unknown): Promise<void> {
    const response = await this.env.API.fetch(apiOrigin + faultControlPath, {
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
