/** Follows the queries and the calls of the record API at the companion worker. */
import type { LoggedQuery } from "../../dns/fault/observed-queries.ts";
import type { LoggedCall } from "../../dns/rules/api-call.ts";
import { QueryWindow } from "../activity/query-window.ts";
import type { DnsInfo } from "../api/project.ts";

/** Where the companion worker is. */
export interface DnsAccess extends DnsInfo {
  /** The headers that give access to the record API, and name the explorer. */
  readonly headers: Readonly<Record<string, string>>;
}

interface DnsFollowerOptions {
  readonly dns: () => Promise<DnsAccess | null>;
  onQueries(queries: readonly LoggedQuery[]): void;
  onCalls(calls: readonly LoggedCall[]): void;
}

/** The reply of `/ledge/activity` (`worker/api/activity-control.ts`). */
interface DnsActivity {
  readonly last: number;
  readonly calls: readonly LoggedCall[];
  readonly queries: readonly LoggedQuery[];
}

const askMilliseconds = 500;
/** The companion worker answers from memory. */
const patienceMilliseconds = 10_000;

export class DnsFollower {
  readonly #options: DnsFollowerOptions;
  readonly #window = new QueryWindow();
  #last: number | null = null;
  /** The access of the last answer. */
  #access: DnsAccess | null = null;
  #timer: NodeJS.Timeout | undefined;
  #asking: Promise<void>;
  /** Resolves when the companion worker has answered, or does not answer. */
  readonly firstAnswer: Promise<void>;
  #isClosed = false;

  /** @param ended the end of the follower before, whose logs end with it */
  constructor(options: DnsFollowerOptions, ended: Promise<void>) {
    this.#options = options;
    this.#asking = ended.then(() => this.#ask());
    this.firstAnswer = this.#asking;
  }

  /** Resolves when the companion worker has ended its logs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#asking;
    if (this.#access !== null) await request(this.#access, "DELETE").catch(() => null);
  }

  async #ask(): Promise<void> {
    try {
      const access = await this.#options.dns();
      if (access !== null) await this.#askAt(access);
    } catch {
      // DNS restarts, or has ended. The next question finds out.
      this.#access = null;
    }
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => (this.#asking = this.#ask()), askMilliseconds);
    // A process does not go on for the sake of its followers.
    this.#timer.unref();
  }

  async #askAt(access: DnsAccess): Promise<void> {
    const after = this.#last === null ? "" : `&after=${this.#last}`;
    const query = `?since=${this.#window.sinceMilliseconds}${after}`;
    const { result } = (await (await request(access, "GET", query)).json()) as {
      readonly result: DnsActivity;
    };
    this.#access = access;
    this.#last = result.last;
    this.#options.onQueries(this.#window.take(result.queries));
    this.#options.onCalls(result.calls);
  }
}

async function request(
  { apiUrl, headers }: DnsAccess,
  method: "GET" | "DELETE",
  query = "",
): Promise<Response> {
  const response = await fetch(new URL(`/ledge/activity${query}`, apiUrl), {
    method,
    headers,
    signal: AbortSignal.timeout(patienceMilliseconds),
  });
  if (!response.ok) throw new Error(`DNS answered ${response.status}`);
  return response;
}
