/**
 * Data that keeps up: what scripts, clients and other tabs change on the server is loaded again.
 *
 * One stream of changes a tab, and only while the tab is visible: a browser has six connections to a
 * server, and hidden tabs need none. The page loads its lists when the stream is open, so that no change
 * is missed. A stream that is opened again says nothing about what happened before: every list is then
 * loaded again. A server without the stream leaves the page as it is.
 */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Change } from "../../api/activity.ts";
import { apiUrl, type ApiCallError } from "../api-client.ts";

/** A list is loaded at most twice a second, however much changes. */
const reloadMilliseconds = 500;
/** A server that is started again is found soon, and a server that is gone is not flooded. */
const reconnectMilliseconds = 1000;
/** A stream that is late, because a part of the server hangs, holds the page back no longer. */
const patienceMilliseconds = 2000;

interface StreamEvents {
  readonly onOpen: () => void;
  readonly onMessage: (data: string) => void;
  /** The stream is not there: it is tried again every second. */
  readonly onLost: () => void;
}

/**
 * Server-sent events, while the tab is visible.
 *
 * @returns a function that ends the stream
 */
export function openStream(url: () => string, events: StreamEvents): () => void {
  let source: EventSource | null = null;
  let reconnect: ReturnType<typeof setTimeout> | undefined;
  const close = (): void => {
    clearTimeout(reconnect);
    source?.close();
    source = null;
  };
  const connect = (): void => {
    close();
    if (document.visibilityState !== "visible") return;
    source = new EventSource(url());
    source.addEventListener("open", events.onOpen);
    source.addEventListener("message", ({ data }: MessageEvent<string>) => events.onMessage(data));
    // The browser does not connect again after every kind of failure, so the page always does.
    source.addEventListener("error", () => {
      close();
      reconnect = setTimeout(connect, reconnectMilliseconds);
      events.onLost();
    });
  };
  document.addEventListener("visibilitychange", connect);
  connect();
  return () => {
    document.removeEventListener("visibilitychange", connect);
    close();
  };
}

type Matches = (change: Change) => boolean;

/** `null` instead of changes: anything may have changed. */
const listeners = new Set<(changes: readonly Change[] | null) => void>();

function tell(changes: readonly Change[] | null): void {
  for (const listener of listeners) listener(changes);
}

/**
 * Opens the stream of changes for as long as the page is there. Resolves when the page may load its
 * lists: the stream is open, or is not there soon.
 */
export function followChanges(): Promise<void> {
  return new Promise((resolve) => {
    let mayHaveMissed = false;
    const settle = (): void => {
      mayHaveMissed = true;
      resolve();
    };
    openStream(() => apiUrl("/api/changes"), {
      onOpen: () => {
        if (mayHaveMissed) tell(null);
        settle();
      },
      onMessage: (data) => {
        const changes = JSON.parse(data) as readonly Change[];
        tell(changes.some(({ topic }) => topic === "all") ? null : changes);
      },
      onLost: settle,
    });
    setTimeout(settle, patienceMilliseconds);
  });
}

/**
 * Calls `act` soon after each wish, and at most once in an interval. The first call waits, too: its
 * user has just loaded what it shows.
 */
export function atMostEvery(milliseconds: number, act: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = Date.now();
  return {
    wish(): void {
      timer ??= setTimeout(
        () => {
          timer = undefined;
          last = Date.now();
          act();
        },
        Math.max(0, last + milliseconds - Date.now()),
      );
    },
    stop: (): void => clearTimeout(timer),
  };
}

/** Calls `reload` after changes that match, and when changes may have been missed. */
export function useChanges(matches: Matches | undefined, reload: () => void): void {
  const current = useRef({ matches, reload });
  current.current = { matches, reload };
  useEffect(() => {
    if (current.current.matches === undefined) return;
    const reloads = atMostEvery(reloadMilliseconds, () => current.current.reload());
    const listen = (changes: readonly Change[] | null): void => {
      if (changes === null || changes.some((change) => current.current.matches?.(change))) {
        reloads.wish();
      }
    };
    listeners.add(listen);
    return () => {
      listeners.delete(listen);
      reloads.stop();
    };
  }, []);
}

export interface Fetched<Data> {
  /** The last data; also while newer data is on its way. */
  readonly data: Data | undefined;
  readonly problem: ApiCallError | undefined;
  /** Not while data is loaded again because of a change. */
  readonly isLoading: boolean;
  readonly reload: () => void;
}

interface FetchedState<Data> {
  readonly key: string;
  readonly data?: Data;
  /** The data as JSON: data that is equal is no reason to render. */
  readonly text?: string;
  readonly problem?: ApiCallError;
  readonly isLoading: boolean;
}

/**
 * Data of the API in a view: loading, loaded or failed.
 *
 * @param fetchData the call; a call that is not needed any more is aborted
 * @param key names what is fetched: with another key, the call is made again and old data is dropped
 * @param matches the changes after which the call is made again; without it, changes are ignored
 */
export function useFetched<Data>(
  fetchData: (signal: AbortSignal) => Promise<Data>,
  key: string,
  matches?: Matches,
): Fetched<Data> {
  const [known, setState] = useState<FetchedState<Data>>({ key, isLoading: true });
  const [round, setRound] = useState({ isQuiet: false });
  const call = useRef(fetchData);
  call.current = fetchData;
  useEffect(() => {
    const ended = new AbortController();
    setState((before) => {
      if (before.key !== key) return { key, isLoading: true };
      return round.isQuiet || before.isLoading ? before : { ...before, isLoading: true };
    });
    call.current(ended.signal).then(
      (data) => {
        if (ended.signal.aborted) return;
        const text = JSON.stringify(data);
        setState((before) => {
          const isSame = before.text === text && before.key === key && !before.problem;
          if (!isSame) return { key, data, text, isLoading: false };
          return before.isLoading ? { ...before, isLoading: false } : before;
        });
      },
      (problem: ApiCallError) => {
        if (ended.signal.aborted) return;
        setState((before) => ({ ...before, key, problem, isLoading: false }));
      },
    );
    return () => ended.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound({ isQuiet: false }), []);
  useChanges(matches, () => setRound({ isQuiet: true }));
  const state: FetchedState<Data> = known.key === key ? known : { key, isLoading: true };
  return { data: state.data, problem: state.problem, isLoading: state.isLoading, reload };
}
