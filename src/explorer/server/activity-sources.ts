/**
 * What happens beside the script's requests: calls of buckets, DNS queries, and calls of the record API.
 * They are entries of the activity, and changes of what the pages show. The sources are asked only while
 * a page follows.
 */
import { CallFollower } from "../../store/node/held-faults.ts";
import type { LoggedQuery } from "../../dns/fault/observed-queries.ts";
import { scriptClient, type LoggedCall } from "../../dns/rules/api-call.ts";
import type { RequestEntry } from "../api/activity.ts";
import {
  apiChanges,
  apiEntry,
  bucketChanges,
  bucketEntry,
  queryEntry,
} from "../activity/call-entries.ts";
import type { ActivityLog, ChangeFeed } from "./activity-log.ts";
import { type DnsAccess, DnsFollower } from "./dns-follower.ts";

interface ActivitySourcesOptions {
  /** The folder of the store. */
  readonly storeFolder: string;
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
  #ending: Promise<void> = Promise.resolve();
  #isClosed = false;
  #hasRequests = false;

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
      if (!isWhole) changes.restart();
    });
    const options = {
      dns,
      onQueries: (queries: readonly LoggedQuery[]) => {
        for (const query of queries) if (this.#isOfOthers(query)) activity.add(queryEntry(query));
      },
      onCalls: (calls: readonly LoggedCall[]) => {
        for (const call of calls) {
          if (this.#isOfOthers(call)) activity.add(apiEntry(call));
          changes.add(...apiChanges(call));
        }
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
