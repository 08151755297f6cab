/** The uploads in progress of a bucket, page by page. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { UploadPage } from "../../api/buckets.ts";
import { bucketPath, callApi, type ApiCallError } from "../api-client.ts";

/** All pages that have been loaded, as one. */
interface UploadPages extends UploadPage {
  /** When `now` was read, by the page's own clock. */
  readonly readAt: number;
}

interface UploadPagesState {
  readonly bucket: string;
  readonly pages?: UploadPages;
  readonly problem?: ApiCallError;
  readonly isLoading: boolean;
}

export function useUploadPages(bucket: string) {
  const [state, setState] = useState<UploadPagesState>({ bucket, isLoading: true });
  const running = useRef(new AbortController());

  const load = useCallback(
    async (before?: UploadPages): Promise<void> => {
      running.current.abort();
      const { signal } = (running.current = new AbortController());
      setState((last) => ({ ...(last.bucket === bucket && last), bucket, isLoading: true }));
      try {
        const page = await callApi<UploadPage>(bucketPath(bucket, "/uploads"), {
          signal,
          query: { cursor: before?.cursor ?? undefined },
        });
        if (signal.aborted) return;
        const uploads = [...(before?.uploads ?? []), ...page.uploads];
        const pages = { ...page, uploads, readAt: performance.now() };
        setState({ bucket, pages, isLoading: false });
      } catch (error) {
        if (signal.aborted) return;
        setState((last) => ({ ...last, problem: error as ApiCallError, isLoading: false }));
      }
    },
    [bucket],
  );
  useEffect(() => {
    void load();
    return () => running.current.abort();
  }, [load]);

  const isCurrent = state.bucket === bucket;
  const pages = isCurrent ? state.pages : undefined;
  return {
    pages,
    problem: isCurrent ? state.problem : undefined,
    isLoading: !isCurrent || state.isLoading,
    reload: () => void load(),
    loadMore: () => void load(pages),
    remove: (uploadId: string) =>
      setState(({ pages: last, ...rest }) => ({
        ...rest,
        ...(last && {
          pages: { ...last, uploads: last.uploads.filter((each) => each.uploadId !== uploadId) },
        }),
      })),
  };
}
