/** Data of the API in a view: loading, loaded or failed. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { ApiCallError } from "../api-client.ts";

export interface Fetched<Data> {
  /** The last data; also while newer data is on its way. */
  readonly data: Data | undefined;
  readonly problem: ApiCallError | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/**
 * @param fetchData the call; a call that is not needed any more is aborted
 * @param key names what is fetched: with another key, the call is made again and old data is dropped
 */
export function useFetched<Data>(
  fetchData: (signal: AbortSignal) => Promise<Data>,
  key: string,
): Fetched<Data> {
  const [state, setState] = useState<{
    readonly key: string;
    readonly data?: Data;
    readonly problem?: ApiCallError;
    readonly isLoading: boolean;
  }>({ key, isLoading: true });
  const [round, setRound] = useState(0);
  const call = useRef(fetchData);
  call.current = fetchData;
  useEffect(() => {
    const ended = new AbortController();
    setState((before) =>
      before.key === key ? { ...before, isLoading: true } : { key, isLoading: true },
    );
    call.current(ended.signal).then(
      (data) => {
        if (!ended.signal.aborted) setState({ key, data, isLoading: false });
      },
      (problem: ApiCallError) => {
        if (ended.signal.aborted) return;
        setState((before) => ({ ...before, key, problem, isLoading: false }));
      },
    );
    return () => ended.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const isCurrent = state.key === key;
  return {
    data: isCurrent ? state.data : undefined,
    problem: isCurrent ? state.problem : undefined,
    isLoading: !isCurrent || state.isLoading,
    reload,
  };
}
