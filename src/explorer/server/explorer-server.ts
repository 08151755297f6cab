/**
 * The HTTP server of the explorer: the files of the page, and the API that the page calls.
 *
 * Every path but those of assets needs access (`access-rule.ts`), and begins with the base of the page.
 * Paths below `/api/` lead to the routes; all other paths are addresses of the page, which the page itself
 * reads.
 */
import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer } from "../../base/node-http.ts";
import { UserError } from "../../base/user-error.ts";
import { StoreError } from "../../store/core/errors.ts";
import { accessCookie, basePath, decideAccess, type AccessHead } from "./access-rule.ts";
import type { ChangeFeed } from "./activity-log.ts";
import { remoteChanges } from "./buckets.ts";
import {
  CallError,
  failure,
  findRoute,
  type ExplorerContext,
  type ExplorerResponse,
  type Route,
} from "./call.ts";
import { assetFile, clickPage, pageFile, refusalPage } from "./page-files.ts";

interface ExplorerServerOptions {
  readonly context: ExplorerContext;
  readonly routes: readonly Route[];
  readonly changes: ChangeFeed;
  readonly token: string;
  /** Receives errors that no page has caused. */
  readonly onError: (error: unknown) => void;
}

export class ExplorerServer {
  readonly #options: ExplorerServerOptions;
  readonly #server: Server;
  #isClosed = false;

  constructor(options: ExplorerServerOptions) {
    this.#options = options;
    // A large upload takes longer than any limit.
    this.#server = createServer({ requestTimeout: 0, noDelay: true });
    this.#server.on("request", (message: IncomingMessage, response: ServerResponse) => {
      void this.#handle(message, response);
    });
  }

  /** @returns the port */
  async listen(port: number, host: string): Promise<number> {
    this.#server.listen(port, host);
    await once(this.#server, "listening");
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    // The browser may go away at any time.
    message.on("error", () => {});
    response.on("error", () => {});
    const ended = new AbortController();
    response.on("close", () => ended.abort());
    try {
      const answer = await this.#answer(message, ended.signal);
      await send(response, answer, message.method === "HEAD");
      // What a handler has not read of the body would be taken for the next request.
      if (!message.complete) message.resume();
    } catch (error) {
      this.#report(error, ended.signal);
      response.destroy();
    }
  }

  async #answer(message: IncomingMessage, signal: AbortSignal): Promise<ExplorerResponse> {
    const { url: target = "/", method = "GET", headers } = message;
    // An absolute target would name another host.
    const url = target.startsWith("/") ? URL.parse(`http://explorer${target}`) : null;
    if (url === null) return failure(400, "The address of the request cannot be read.");
    const { token } = this.#options;
    const base = basePath(token);
    const access = decideAccess(accessHead(message, url), token);
    const isServed = access.access !== "refused" || access.status !== 403;
    // The code of the page is no secret, and has no base: it is the same for every project.
    if (isServed && url.pathname.startsWith("/assets/")) return assetFile(url, headers);
    if (access.access === "link") {
      // Never to a path of the request, which could be another host.
      const location = `${base}/`;
      return { status: 303, headers: { location, "set-cookie": accessCookie(token) } };
    }
    if (access.access === "click") return clickPage(url);
    const { pathname, searchParams: query } = url;
    const path = pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : pathname;
    const isApi = path.startsWith("/api/");
    if (access.access === "refused") {
      const { status, message: text } = access;
      return isApi ? failure(status, text) : refusalPage(status, text);
    }
    if (!isApi) return pageFile(method, { base, path, query });
    try {
      return await this.#call(message, { method, path, query, signal });
    } catch (error) {
      return this.#explain(error, signal);
    }
  }

  async #call(
    body: IncomingMessage,
    request: { method: string; path: string; query: URLSearchParams; signal: AbortSignal },
  ): Promise<ExplorerResponse> {
    const { context, routes, changes } = this.#options;
    const found = findRoute(routes, request.method, request.path);
    if (found.route === null) {
      return found.methods.length === 0
        ? failure(404, "The explorer has no such path.")
        : failure(405, `This path has only ${found.methods.join(", ")}.`);
    }
    const { route, parameters } = found;
    const answer = await route.handle({
      context,
      parameters,
      headers: body.headers,
      body,
      ...request,
    });
    const { bucket } = parameters;
    if (route.method !== "GET" && bucket !== undefined) {
      const changed = await context.store.find(bucket);
      if (changed !== null) changes.add(...remoteChanges(changed));
    }
    return answer;
  }

  #explain(error: unknown, gone: AbortSignal): ExplorerResponse {
    if (error instanceof CallError || error instanceof StoreError) {
      return failure(error.status, error.message, error.code);
    }
    if (error instanceof UserError) return failure(422, error.message);
    this.#report(error, gone);
    return failure(500, `An error of Ledge itself: ${(error as Error).message}`);
  }

  /**
   * Not after the end, and not when the browser has gone away: both break off the request, and what
   * reads the rest of the request fails.
   */
  #report(error: unknown, gone: AbortSignal): void {
    if (!this.#isClosed && !gone.aborted) this.#options.onError(error);
  }
}

function accessHead({ method = "GET", headers }: IncomingMessage, url: URL): AccessHead {
  return {
    method,
    path: url.pathname,
    host: headers.host ?? null,
    origin: headers.origin ?? null,
    fetchSite: headers["sec-fetch-site"]?.toString() ?? null,
    isNavigation: headers["sec-fetch-mode"] === "navigate",
    cookie: headers.cookie ?? null,
    authorization: headers.authorization ?? null,
    linkToken: url.searchParams.get("token"),
  };
}

/** No response is kept by a cache, guessed at, or framed by another page. */
const commonHeaders = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "x-frame-options": "SAMEORIGIN",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

/**
 * No faster than the browser reads. Resolves when the response has been sent, or when the browser has gone
 * away.
 */
async function send(
  response: ServerResponse,
  { status, headers, body = "" }: ExplorerResponse,
  isHead: boolean,
): Promise<void> {
  const all = { ...commonHeaders, ...headers };
  if (typeof body === "string" || body instanceof Uint8Array) {
    const length = String(Buffer.byteLength(body));
    response.writeHead(status, { "content-length": length, ...all });
    response.end(isHead ? undefined : body);
    return;
  }
  response.writeHead(status, all);
  const chunks = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = isHead ? { done: true, value: undefined } : await chunks.next();
      if (done || value === undefined || response.destroyed) break;
      // The memory of a chunk is used again, so the system must have the bytes first.
      await new Promise<void>((resolve) => response.write(value, () => resolve()));
    }
    response.end();
  } finally {
    // Releases what the body holds, also when the browser has not read all of it.
    await chunks.return?.();
  }
}
