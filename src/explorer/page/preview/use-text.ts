/** The beginning of a text content, in a view: more of it on demand. */
import { useEffect, useState } from "preact/hooks";
import type { ApiCallError } from "../api-client.ts";
import { readContent, type ContentPart, type ContentSource } from "./content-source.ts";

/** How much of a text is loaded at a time. */
export const textPartBytes = 256 * 1024;

export interface LoadedText {
  /** `null` until the first part is there. */
  readonly part: ContentPart | null;
  readonly isLoading: boolean;
  readonly problem: ApiCallError | null;
  /** Loads the next part. */
  readonly more: () => void;
  readonly retry: () => void;
}

/**
 * @param head the first bytes, which are there already
 * @param isShown whether the text is shown: until then, nothing is loaded
 */
export function useText(source: ContentSource, head: ContentPart, isShown: boolean): LoadedText {
  const [loaded, setLoaded] = useState({ part: head, length: 0 });
  const [length, setLength] = useState(textPartBytes);
  const [problem, setProblem] = useState<ApiCallError | null>(null);
  const [round, setRound] = useState(0);
  const isComplete = loaded.part.isWhole || loaded.length >= length;
  useEffect(() => {
    if (isComplete || !isShown) return undefined;
    const ended = new AbortController();
    setProblem(null);
    readContent(source, { length, before: loaded.part }, ended.signal).then(
      (part) => {
        if (!ended.signal.aborted) setLoaded({ part, length });
      },
      (error: ApiCallError) => {
        if (!ended.signal.aborted) setProblem(error);
      },
    );
    return () => ended.abort();
  }, [source.url, source.etag, length, isComplete, isShown, round]);
  return {
    part: loaded.part.isWhole || loaded.length > 0 ? loaded.part : null,
    isLoading: !isComplete && problem === null,
    problem,
    more: () => setLength((before) => before + textPartBytes),
    retry: () => setRound((before) => before + 1),
  };
}
