/** One page of the list of a bucket. */
import { useCallback, useLayoutEffect, useState } from "preact/hooks";
import type { ObjectPage } from "../../api/buckets.ts";
import { objectListUrl, type ObjectListing } from "../../api/object-list-url.ts";
import { callApi, type ApiCallError } from "../api-client.ts";
import { withoutRepeatedFolder } from "../objects/page-trail.ts";

interface ShownPage extends ObjectListing {
  readonly page: ObjectPage;
}

interface FetchedPage {
  /**
   * The last page that was loaded, which can be another page than the wanted page: its rows stay until
   * the wanted page is there, so that nothing flickers while a person types.
   */
  readonly shown: ShownPage | undefined;
  readonly problem: ApiCallError | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

export function useObjectPage({ bucket, prefix, after }: ObjectListing): FetchedPage {
  const [shown, setShown] = useState<ShownPage>();
  const [problem, setProblem] = useState<ApiCallError>();
  const [isLoading, setLoading] = useState(true);
  const [round, setRound] = useState(0);
  // A layout effect runs at once. Other effects wait for the next frame, and so would the list.
  useLayoutEffect(() => {
    const ended = new AbortController();
    setLoading(true);
    const url = objectListUrl({ bucket, prefix, after });
    callApi<ObjectPage>(url, { signal: ended.signal }).then(
      (page) => {
        if (ended.signal.aborted) return;
        setShown({ bucket, prefix, after, page: withoutRepeatedFolder(page, after) });
        setProblem(undefined);
        setLoading(false);
      },
      (error: ApiCallError) => {
        if (ended.signal.aborted) return;
        // Rows of another folder beside the problem would look like rows of this folder.
        setShown((before) =>
          before?.bucket === bucket && before.prefix === prefix && before.after === after
            ? before
            : undefined,
        );
        setProblem(error);
        setLoading(false);
      },
    );
    return () => ended.abort();
  }, [bucket, prefix, after, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { shown: shown?.bucket === bucket ? shown : undefined, problem, isLoading, reload };
}
