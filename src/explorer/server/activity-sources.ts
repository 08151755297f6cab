/**
 * What happens beside the script: calls of buckets by other programs, DNS queries, and calls of the record
 * API. The sources are asked only while a page follows the activity.
 */
import { CallFollower } from "../../store/node/held-conditions.ts";
import type { LoggedQuery } from "../../dns/fault/observed-queries.ts";
import { scriptClient, type LoggedCall } from "../../dns/rules/api-call.ts";
import { apiEntry, bucketEntry, queryEntry } from "../activity/call-entries.ts";
import type { ActivityLog } from "./activity-log.ts";
import type { DnsAccess } from "./context.ts";
import { DnsFollower } from "./dns-follower.ts";

interface ActivitySourcesOptions {
  /** The folder of the store. */
  readonly storeFolder: string;
  readonly dns: () => Promise<DnsAccess | null>;
  readonly activity: ActivityLog;
  /** Whether the requests of the script are entries: then their calls are not entries of their own. */
  readonly hasRequests: () => Promise<boolean>;
}

/** What the explorer calls itself at the companion worker: the page knows what it does. */
const explorerClient = "explorer";

export class ActivitySources {
  readonly #options: ActivitySourcesOptions;
  #calls: CallFollower | null = null;
  #dns: DnsFollower | null = null;
  #ending: Promise<void> = Promise.resolve();
  #isClosed = false;
  #hasRequests = false;

  constructor(options: ActivitySourcesOptions) {
    this.#options = options;
    options.activity.onFollowed((isFollowed) => {
      if (isFollowed) this.#start();
      else this.#stop();
    });
    if (options.activity.isFollowed) this.#start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    await this.#ending;
  }

  #start(): void {
    if (this.#isClosed || this.#calls !== null) return;
    const { storeFolder, dns, activity, hasRequests } = this.#options;
    void hasRequests().then((isSo) => (this.#hasRequests = isSo));
    this.#calls = new CallFollower(storeFolder, (calls) => {
      for (const call of calls) if (this.#isShown(call.client)) activity.add(bucketEntry(call));
    });
    const options = {
      dns,
      onQueries: (queries: readonly LoggedQuery[]) => {
        for (const query of queries) if (this.#isOfOthers(query)) activity.add(queryEntry(query));
      },
      onCalls: (calls: readonly LoggedCall[]) => {
        for (const call of calls) if (this.#isOfOthers(call)) activity.add(apiEntry(call));
      },
    };
    this.#dns = new DnsFollower(options, this.#ending);
  }

  #stop(): void {
    this.#calls?.close();
    this.#calls = null;
    const dns = this.#dns;
    this.#dns = null;
    if (dns !== null) this.#ending = Promise.all([this.#ending, dns.close()]).then(() => {});
  }

  #isOfOthers({ client }: { readonly client?: string | null }): boolean {
    return client !== explorerClient && this.#isShown(client);
  }

  #isShown(client: string | null | undefined): boolean {
    return !(this.#hasRequests && client === scriptClient);
  }
}
