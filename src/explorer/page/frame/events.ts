/**
 * Data that keeps up: what scripts, clients and other tabs change on the server is loaded again.
 *
 * One stream of changes a tab, and only while the tab is visible: a browser has six connections to a
 * server, and hidden tabs need none. A stream that is opened says nothing about what happened before,
 * so that every list is then loaded again. A server without the stream leaves the page as it is.
 */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Change } from "../../api/activity.ts";
import { apiUrl, type ApiCallError } from "../api-client.ts";

/** A list is loaded at most twice a second, however much changes. */
const reloadMilliseconds = 500;
/** A server that is started again is found soon, and a server that is gone is not flooded. */
const reconnectMilliseconds = 1000;

type Matches = (change: Change) => boolean;

/** `null` instead of changes: anything may have changed. */
type Listener = (changes: readonly Change[] | null) => void;

const listeners = new Set<Listener>();
let source: EventSource | null = null;
let reconnect: ReturnType<typeof setTimeout> | undefined;

function tell(changes: readonly Change[] | null): void {
  for (const listener of listeners) listener(changes);
}

/** Opens or closes the stream, as the tab and the listeners need it. */
function connect(): void {
  const isWanted = listeners.size > 0 && document.visibilityState === "visible";
  if (isWanted === (source !== null)) return;
  clearTimeout(reconnect);
  source?.close();
  source = null;
  if (!isWanted) return;
  source = new EventSource(apiUrl("/api/changes"));
  source.addEventListener("open", () => tell(null));
  source.addEventListener("message", ({ data }: MessageEvent<string>) =>
    tell(JSON.parse(data) as readonly Change[]),
  );
  // The browser does not connect again after every kind of failure, so the page always does.
  source.addEventListener("error", () => {
    source?.close();
    source = null;
    reconnect = setTimeout(connect, reconnectMilliseconds);
  });
}

function listen(listener: Listener): () => void {
  if (listeners.size === 0) document.addEventListener("visibilitychange", connect);
  listeners.add(listener);
  connect();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) document.removeEventListener("visibilitychange", connect);
    connect();
  };
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
export function useChanges(matches: Matches, reload: () => void): void {
  const current = useRef({ matches, reload });
  current.current = { matches, reload };
  useEffect(() => {
    const reloads = atMostEvery(reloadMilliseconds, () => current.current.reload());
    const stop = listen((changes) => {
      if (changes === null || changes.some((change) => current.current.matches(change))) {
        reloads.wish();
      }
    });
    return () => {
      stop();
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
  /** The same, without a sign that data is loaded. */
  readonly refresh: () => void;
}

interface FetchedState<Data> {
  readonly key: string;
  readonly data?: Data;
  /** The data as JSON: data that is equal is no reason to render. */
  readonly text?: string;
  readonly problem?: ApiCallError;
  readonly isLoading: boolean;
}

const noChange: Matches = () => false;

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
  const [state, setState] = useState<FetchedState<Data>>({ key, isLoading: true });
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
  const refresh = useCallback(() => setRound({ isQuiet: true }), []);
  useChanges(matches ?? noChange, () => {
    if (matches !== undefined) refresh();
  });
  const isCurrent = state.key === key;
  return {
    data: isCurrent ? state.data : undefined,
    problem: isCurrent ? state.problem : undefined,
    isLoading: !isCurrent || state.isLoading,
    reload,
    refresh,
  };
}
