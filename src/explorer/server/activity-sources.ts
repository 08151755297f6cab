/**
 * What happens beside the script's requests: calls of buckets, DNS queries, and calls of the record API.
 * They are entries of the activity, and changes of what the pages show. The sources are asked only while
 * a page follows.
 */
import { QueryWindow, type LoggedQuery } from "../../dns/fault/query-log.ts";
import { scriptClient, type LoggedCall } from "../../dns/rules/api-call.ts";
import { CallFollower } from "../../store/node/held-faults.ts";
import {
  apiChanges,
  apiEntry,
  bucketChanges,
  bucketEntry,
  queryEntry,
} from "../activity/call-entries.ts";
import type { RequestEntry } from "../api/activity.ts";
import type { ActivityLog, ChangeFeed } from "./activity-log.ts";
import type { DnsAccess } from "./call.ts";

interface ActivitySourcesOptions {
  /** The folder of the store. */
  readonly storeFolder: string;
  /** `null` while DNS does not run. */
  readonly dns: () => Promise<DnsAccess | null>;
  readonly activity: ActivityLog;
  readonly changes: ChangeFeed;
  /** Whether the requests of the script are entries: then their calls are not entries of their own. */
  readonly hasRequests: () => Promise<boolean>;
  /** The buckets that are on an S3 service. */
  readonly remoteNames: () => readonly string[];
}

/** What the explorer calls itself at the companion worker: the page knows what it does. */
const explorerClient = "explorer";

export class ActivitySources {
  readonly #options: ActivitySourcesOptions;
  #calls: CallFollower | null = null;
  #dns: DnsFollower | null = null;
  #ending: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #hasRequests = false;
  /** Of all followers, one after the other: DNS tells each what was asked before. */
  readonly #queries = new QueryWindow<LoggedQuery>(({ milliseconds }) => milliseconds);

  constructor(options: ActivitySourcesOptions) {
    this.#options = options;
    const { activity, changes } = options;
    const follow = (): void => {
      if (activity.isFollowed || changes.isFollowed) this.#start();
      else this.#stop();
    };
    activity.onFollowed(follow);
    changes.onFollowed(follow);
    changes.whenWatching = async () => {
      await Promise.all([this.#calls?.firstAnswer, this.#dns?.firstAnswer]);
    };
    // The owner of the store does not see the calls of buckets that are on an S3 service.
    activity.onAdded = (entry) => {
      if (changes.isFollowed && entry.kind === "request") this.#addRemoteChanges(entry);
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    await this.#ending;
  }

  #start(): void {
    if (this.#isClosed || this.#calls !== null) return;
    const { storeFolder, dns, activity, changes, hasRequests } = this.#options;
    void hasRequests().then((isSo) => (this.#hasRequests = isSo));
    this.#calls = new CallFollower(storeFolder, (calls, isWhole) => {
      for (const call of calls) {
        if (this.#isShown(call.client)) activity.add(bucketEntry(call));
        changes.add(...bucketChanges(call));
      }
      if (!isWhole) changes.add({ topic: "all" });
    });
    const onAnswer = ({ queries, calls }: Omit<DnsActivity, "last">): void => {
      for (const query of this.#queries.take(queries)) {
        if (this.#isOfOthers(query)) activity.add(queryEntry(query));
      }
      for (const call of calls) {
        if (this.#isOfOthers(call)) activity.add(apiEntry(call));
        changes.add(...apiChanges(call));
      }
    };
    this.#dns = followDns(dns, this.#queries, onAnswer, this.#ending);
  }

  #stop(): void {
    this.#calls?.close();
    this.#calls = null;
    this.#ending = Promise.all([this.#ending, this.#dns?.close()]);
    this.#dns = null;
  }

  #addRemoteChanges({ calls }: RequestEntry): void {
    const names = this.#options.remoteNames();
    for (const { kind, place: bucket, method, outcome } of calls) {
      if (kind !== "bucket" || !names.includes(bucket)) continue;
      this.#options.changes.add(...bucketChanges({ bucket, method, outcome }));
    }
  }

  #isOfOthers({ client }: { readonly client?: string | null }): boolean {
    return client !== explorerClient && this.#isShown(client);
  }

  #isShown(client: string | null | undefined): boolean {
    return !(this.#hasRequests && client === scriptClient);
  }
}

/** The reply of `/ledge/activity` (`worker/api/controls.ts`). */
interface DnsActivity {
  readonly last: number;
  readonly calls: readonly LoggedCall[];
  readonly queries: readonly LoggedQuery[];
}

interface DnsFollower {
  /** Resolves when the companion worker has answered, or does not answer. */
  readonly firstAnswer: Promise<void>;
  /** Resolves when the companion worker has ended its logs. */
  close(): Promise<void>;
}

const askMilliseconds = 500;
/** The companion worker answers from memory. */
const patienceMilliseconds = 10_000;

/** @param ended the end of the follower before, whose logs end with it */
function followDns(
  dns: ActivitySourcesOptions["dns"],
  window: Pick<QueryWindow<LoggedQuery>, "sinceMilliseconds">,
  onAnswer: (answer: Omit<DnsActivity, "last">) => void,
  ended: Promise<unknown>,
): DnsFollower {
  let after = "";
  /** The access of the last answer. */
  let answered: DnsAccess | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const ask = async (): Promise<void> => {
    try {
      const access = await dns();
      if (access !== null) {
        const query = `?since=${window.sinceMilliseconds}${after}`;
        const response = await requestActivity(access, "GET", query);
        const { result } = (await response.json()) as { readonly result: DnsActivity };
        answered = access;
        after = `&after=${result.last}`;
        onAnswer(result);
      }
    } catch {
      // DNS restarts, or has ended. The next question finds out.
      answered = null;
    }
    if (isClosed) return;
    timer = setTimeout(() => (asking = ask()), askMilliseconds);
    // A process does not go on for the sake of its followers.
    timer.unref();
  };
  let asking = ended.then(ask);
  return {
    firstAnswer: asking,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await asking;
      if (answered !== null) await requestActivity(answered, "DELETE").catch(() => null);
    },
  };
}

async function requestActivity(
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
