/**
 * The HTTP server of the explorer: the files of the page, and the API that the page calls.
 *
 * Every path but those of assets needs access (`access-rule.ts`), and begins with the base of the page.
 * Paths below `/api/` lead to the routes; all other paths are addresses of the page, which the page itself
 * reads.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer } from "../../base/node-http.ts";
import { UserError } from "../../base/user-error.ts";
import { StoreError } from "../../store/core/errors.ts";
import { accessCookie, basePath, decideAccess, type AccessHead } from "./access-rule.ts";
import { remoteChanges } from "./bucket-access.ts";
import { CallError, failure, type ExplorerResponse } from "./call.ts";
import type { Route, ExplorerContext } from "./context.ts";
import { assetFile, clickPage, pageFile, refusalPage } from "./page-files.ts";
import { findRoute } from "./router.ts";
import { send } from "./send.ts";

interface ExplorerServerOptions {
  readonly context: ExplorerContext;
  readonly routes: readonly Route[];
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
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, host, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
    return this.#port;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port;
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
    const url = parseTarget(message.url ?? "/");
    if (url === null) return failure(400, "The address of the request cannot be read.");
    const { token } = this.#options;
    const base = basePath(token);
    const access = decideAccess(accessHead(message, url), token);
    const method = message.method ?? "GET";
    const isServed = access.access !== "refused" || access.status !== 403;
    // The code of the page is no secret, and has no base: it is the same for every project.
    if (isServed && url.pathname.startsWith("/assets/")) return assetFile(url, message.headers);
    if (access.access === "link") return admit(token);
    if (access.access === "click") return clickPage(url);
    const path = url.pathname.startsWith(`${base}/`)
      ? url.pathname.slice(base.length)
      : url.pathname;
    const isApi = path.startsWith("/api/");
    if (access.access === "refused") {
      const { status, message: text } = access;
      return isApi ? failure(status, text) : refusalPage(status, text);
    }
    if (!isApi) return pageFile(method, { base, path, query: url.searchParams });
    const found = findRoute(this.#options.routes, method, path);
    if (found.route === null) {
      return found.methods.length === 0
        ? failure(404, "The explorer has no such path.")
        : failure(405, `This path has only ${found.methods.join(", ")}.`);
    }
    const { context } = this.#options;
    const { route, parameters } = found;
    try {
      const answer = await route.handle({
        context,
        parameters,
        query: url.searchParams,
        headers: message.headers,
        body: message,
        signal,
      });
      const { bucket } = parameters;
      const changed =
        route.method === "GET" || bucket === undefined ? null : await context.store.find(bucket);
      if (changed !== null) context.changes.add(...remoteChanges(changed));
      return answer;
    } catch (error) {
      return this.#explain(error, signal);
    }
  }

  #explain(error: unknown, gone: AbortSignal): ExplorerResponse {
    if (error instanceof CallError) return failure(error.status, error.message, error.code);
    if (error instanceof StoreError) return failure(error.status, error.message, error.code);
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

/** Sets the cookie, and leads to the page: never to a path of the request, which could be another host. */
function admit(token: string): ExplorerResponse {
  return {
    status: 303,
    headers: { location: `${basePath(token)}/`, "set-cookie": accessCookie(token) },
  };
}

function parseTarget(target: string): URL | null {
  // An absolute target would name another host.
  if (!target.startsWith("/")) return null;
  return URL.parse(`http://explorer${target}`);
}

function accessHead({ method = "GET", headers }: IncomingMessage, url: URL): AccessHead {
  return {
    method,
    path: url.pathname,
    host: headers.host ?? null,
    origin: headers.origin ?? null,
    fetchSite: headerText(headers["sec-fetch-site"]),
    isNavigation: headers["sec-fetch-mode"] === "navigate",
    cookie: headers.cookie ?? null,
    linkToken: url.searchParams.get("token"),
  };
}

function headerText(value: string | string[] | undefined): string | null {
  return typeof value === "string" ? value : null;
}
