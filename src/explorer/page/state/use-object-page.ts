/** One page of the list of a bucket. */
import { useCallback, useLayoutEffect, useState } from "preact/hooks";
import type { ObjectPage } from "../../api/buckets.ts";
import { bucketPath, callApi, type ApiCallError } from "../api-client.ts";
import { delimiter } from "../objects/folder-path.ts";
import { withoutRepeatedFolder } from "../objects/page-trail.ts";

/** What is listed. */
interface Listing {
  readonly bucket: string;
  readonly prefix: string;
  readonly after: string;
}

interface ShownPage extends Listing {
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

const pageRowsMax = 1000;

export function useObjectPage({ bucket, prefix, after }: Listing): FetchedPage {
  const [shown, setShown] = useState<ShownPage>();
  const [problem, setProblem] = useState<ApiCallError>();
  const [isLoading, setLoading] = useState(true);
  const [round, setRound] = useState(0);
  // A layout effect runs at once. Other effects wait for the next frame, and so would the list.
  useLayoutEffect(() => {
    const ended = new AbortController();
    setLoading(true);
    callApi<ObjectPage>(bucketPath(bucket, "/objects"), {
      query: { prefix, delimiter, limit: pageRowsMax, ...(after !== "" && { after }) },
      signal: ended.signal,
    }).then(
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
