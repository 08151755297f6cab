/**
 * What the pages follow: the last entries of the activity, and the changes of what their lists show.
 *
 * Both are streams of server-sent events. What happens within a short time is one message, and messages
 * are sent no faster than the browser reads (`explorer-server.ts`).
 */
import type { ActivityBatch, ActivityEntry, Change } from "../api/activity.ts";
import { CallError, type ExplorerCall, type ExplorerResponse, type Route } from "./call.ts";

/** An entry before the log gives it an id. */
export type NewEntry = ActivityEntry extends infer Entry
  ? Entry extends ActivityEntry
    ? Omit<Entry, "id">
    : never
  : never;

/** A page that opens sees what has happened before, and a flood does not take the memory. */
const entriesMax = 5000;

/** Tells who follows. A source that costs something works only while a page follows. */
class Followed<Event> {
  readonly #followers = new Set<(event: Event) => void>();
  readonly #onFollowed: (() => void)[] = [];

  get isFollowed(): boolean {
    return this.#followers.size > 0;
  }

  onFollowed(listen: () => void): void {
    this.#onFollowed.push(listen);
  }

  /** @returns a function that ends the following */
  follow(follower: (event: Event) => void): () => void {
    this.#followers.add(follower);
    for (const listen of this.#onFollowed) listen();
    return () => {
      if (!this.#followers.delete(follower)) return;
      for (const listen of this.#onFollowed) listen();
    };
  }

  protected tell(event: Event): void {
    for (const follower of this.#followers) follower(event);
  }
}

export class ActivityLog extends Followed<ActivityEntry> {
  #entries: ActivityEntry[] = [];
  #nextId = 1;
  /** Hears of each entry, also while no page follows. */
  onAdded: (entry: ActivityEntry) => void = () => {};

  /** @returns the id of the entry */
  add(added: NewEntry): number {
    // Twice the limit, so that the array moves rarely.
    if (this.#entries.length >= 2 * entriesMax) this.#entries = this.#entries.slice(-entriesMax);
    const id = this.#nextId++;
    const entry = { ...added, id };
    this.#entries.push(entry);
    this.tell(entry);
    this.onAdded(entry);
    return id;
  }

  /** The entries after an id, and how many of them are lost. */
  after(id: number): { readonly entries: readonly ActivityEntry[]; readonly dropped: number } {
    const first = this.#entries[0]?.id ?? this.#nextId;
    // A page of an earlier server knows ids that this log has not reached.
    const known = id < this.#nextId ? id : 0;
    const entries = this.#entries.slice(Math.max(0, known + 1 - first));
    return { entries, dropped: known === 0 ? 0 : Math.max(0, first - known - 1) };
  }
}

export class ChangeFeed extends Followed<Change> {
  /** Resolves when no change is missed from now on: the sources have answered the first time. */
  whenWatching: () => Promise<void> = async () => {};

  add(...changes: readonly Change[]): void {
    for (const change of changes) this.tell(change);
  }
}

/** A page that opens gets the last thousands of entries in several messages. */
const batchEntriesMax = 500;

/** @param after the last id that the page has */
export function activityStream(
  log: ActivityLog,
  { after, signal }: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  let last = after;
  return eventStream(signal, {
    follow: (wake) => log.follow(wake),
    take: () => {
      const { entries, dropped } = log.after(last);
      if (entries.length === 0) return null;
      const batch: ActivityBatch = { entries: entries.slice(0, batchEntriesMax), dropped };
      last = batch.entries.at(-1)?.id ?? last;
      const text = `id: ${last}\ndata: ${JSON.stringify(batch)}\n\n`;
      return { text, hasMore: entries.length > batchEntriesMax };
    },
  });
}

export function changeStream(feed: ChangeFeed, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const pending = new Map<string, Change>();
  return eventStream(signal, {
    follow: (wake) =>
      feed.follow((change) => {
        pending.set(JSON.stringify(change), change);
        wake();
      }),
    whenReady: feed.whenWatching,
    take: () => {
      if (pending.size === 0) return null;
      const text = `data: ${JSON.stringify([...pending.values()])}\n\n`;
      pending.clear();
      return { text, hasMore: false };
    },
  });
}

const batchMilliseconds = 100;
/** A proxy or a browser may end a connection on which nothing happens. */
const heartbeatMilliseconds = 15_000;
/** How long the browser waits before it connects again. */
const retryMilliseconds = 1000;

interface Events {
  /** @returns a function that ends the following */
  follow(wake: () => void): () => void;
  /** The stream is open for the browser afterwards: the first bytes are sent with its headers. */
  whenReady?(): Promise<void>;
  /** The next message; `hasMore`: the message after it is ready, too. */
  take(): { readonly text: string; readonly hasMore: boolean } | null;
}

async function* eventStream(signal: AbortSignal, events: Events): AsyncGenerator<Uint8Array> {
  let wake: (() => void) | undefined;
  const end = events.follow(() => wake?.());
  const abort = (): void => wake?.();
  signal.addEventListener("abort", abort);
  /** Resolves after a time, or at the end of the stream; `isEager`: or with the next event. */
  const wait = (milliseconds: number, isEager: boolean): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      wake = () => {
        if (!isEager && !signal.aborted) return;
        clearTimeout(timer);
        resolve();
      };
      if (signal.aborted) wake();
    });
  try {
    await events.whenReady?.();
    yield Buffer.from(`retry: ${retryMilliseconds}\n\n`);
    while (!signal.aborted) {
      const taken = events.take();
      if (taken === null) {
        const before = performance.now();
        await wait(heartbeatMilliseconds, true);
        if (performance.now() - before >= heartbeatMilliseconds) yield Buffer.from(":\n\n");
        continue;
      }
      yield Buffer.from(taken.text);
      if (!taken.hasMore) await wait(batchMilliseconds, false);
    }
  } finally {
    signal.removeEventListener("abort", abort);
    end();
  }
}

function streamed(body: AsyncGenerator<Uint8Array>): ExplorerResponse {
  return { status: 200, headers: { "content-type": "text/event-stream" }, body };
}

/** A browser that connects again says the last id itself, and its address has the first one. */
function lastId({ headers, query }: ExplorerCall): number {
  const id = Number(headers["last-event-id"] ?? query.get("after") ?? "0");
  if (Number.isSafeInteger(id) && id >= 0) return id;
  throw new CallError(400, '"after" is not the id of an entry.');
}

export function activityRoutes(activity: ActivityLog, changes: ChangeFeed): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/activity",
      handle: async (call) =>
        streamed(activityStream(activity, { after: lastId(call), signal: call.signal })),
    },
    {
      method: "GET",
      path: "/api/changes",
      handle: async ({ signal }) => streamed(changeStream(changes, signal)),
    },
  ];
}
