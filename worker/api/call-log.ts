/**
 * The last calls of the record API, while the explorer follows them.
 */
import type { Problem } from "../../src/dns/record/problem.ts";
import { clientHeader, scriptClient, type LoggedCall } from "../../src/dns/rules/api-call.ts";

/** Miniflare's, of each request that a script sends by `fetch()`. */
const scriptHeader = "cf-worker";

/** A flood of calls between two questions must not take the memory. */
const callsMax = 2000;
/** The controls are no calls of the record API. */
const controlRoot = "/ledge/";
const errorStatus = 400;

class CallLog {
  isFollowed = false;
  #lastId = 0;
  #calls: LoggedCall[] = [];

  /** @param id `null` for the first question: later calls are of interest */
  after(id: number | null): { readonly last: number; readonly calls: readonly LoggedCall[] } {
    this.isFollowed = true;
    // A follower of an earlier runtime knows ids that this log has not reached.
    const known = id === null ? this.#lastId : id > this.#lastId ? 0 : id;
    return { last: this.#lastId, calls: this.#calls.filter((call) => call.id > known) };
  }

  end(): void {
    this.isFollowed = false;
    this.#calls = [];
  }

  async add({ url, method, headers }: Request, response: Response, at: number): Promise<void> {
    const { pathname, search } = new URL(url);
    if (pathname.startsWith(controlRoot)) return;
    const { status } = response;
    const errors = status < errorStatus ? [] : await errorsIn(response.clone());
    // Twice the limit, so that the array moves rarely.
    if (this.#calls.length >= 2 * callsMax) this.#calls = this.#calls.slice(-callsMax);
    this.#calls.push({
      id: ++this.#lastId,
      at,
      milliseconds: Date.now() - at,
      client: clientOf(headers),
      method,
      path: pathname + search,
      status,
      errors,
    });
  }
}

/** All entrypoints of the worker share one log. */
export const callLog = new CallLog();

/** The program that makes a request; `null` if it does not say so. */
export function clientOf(headers: Headers): string | null {
  return headers.get(clientHeader) ?? (headers.has(scriptHeader) ? scriptClient : null);
}

async function errorsIn(response: Response): Promise<LoggedCall["errors"]> {
  try {
    const { errors } = await response.json<{ errors: readonly Problem[] }>();
    return errors.map(({ code, message }) => ({ code, message }));
  } catch {
    return [];
  }
}
