/**
 * The record API for a script whose zones are in a folder. The zones live in the companion worker of
 * the process that owns the folder, in another runtime: they survive a reload of the script, and all
 * processes share them.
 *
 * `DnsApi` behaves as `DnsApi` of the companion worker (`index.ts`). A request whose answer is lost is
 * sent again, to the next owner (`src/state/repeat.ts`).
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import { clientHeader, requestIdHeader, scriptClient } from "../src/dns/rules/api-call.ts";
import { repeatUntilAnswered } from "../src/state/repeat.ts";
import { layersPath, type LayerRequest } from "./api/controls.ts";

interface ProxyEnv {
  readonly OWNER: Fetcher;
}

/** A configured fault delays an answer by at most 60 s. */
const answerMilliseconds = 90_000;
const origin = "http://dns";
const readingMethods = new Set(["GET", "HEAD"]);

export class DnsApi extends WorkerEntrypoint<ProxyEnv> {
  override async fetch(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    const body = readingMethods.has(method) ? null : await request.arrayBuffer();
    return this.#send(pathname + search, { method, headers, body });
  }

  async setFaults(faults: unknown): Promise<void> {
    const response = await this.#send("/ledge/faults", {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ faults }),
    });
    const { success, errors } = await response.json<{
      success: boolean;
      errors: { message: string }[];
    }>();
    if (!success) throw new Error(errors.map(({ message }) => message).join("; "));
  }

  openLayer(layer: number, isSnapshot?: boolean): Promise<void> {
    return this.#controlLayers({ open: layer, isSnapshot });
  }

  closeLayer(layer: number, next?: number): Promise<void> {
    return this.#controlLayers({ close: layer, next });
  }

  async #controlLayers(request: LayerRequest): Promise<void> {
    await this.#send(layersPath, { method: "POST", body: JSON.stringify(request) });
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set(clientHeader, scriptClient);
    // A script cannot choose the id.
    headers.set(requestIdHeader, crypto.randomUUID());
    return repeatUntilAnswered({
      since: Date.now(),
      send: async () => {
        const signal = AbortSignal.timeout(answerMilliseconds);
        const request = { ...init, headers, signal, redirect: "manual" } as const;
        const response = await this.env.OWNER.fetch(origin + path, request);
        const body = await response.arrayBuffer();
        return new Response(body.byteLength === 0 ? null : body, response);
      },
      onFailure(error, isOver) {
        if (!isOver) return;
        throw new Error(
          "The process that owns the zones does not answer. Stop that process: another process " +
            "then serves the zones.",
          { cause: error },
        );
      },
    });
  }
}

export default {};
