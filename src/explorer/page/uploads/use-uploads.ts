/** The queue of uploads, for views. */
import { useEffect, useRef, useState } from "preact/hooks";
import { uploads } from "./page-uploads.ts";
import { activeFiles, summarize, type UploadSummary } from "./upload-summary.ts";

/** The queue changes with each packet; a view changes less often. */
const renderMilliseconds = 100;
/** The rate falls while no packet is sent. */
const idleMilliseconds = 1000;
/** A list of objects is not loaded again for each of 10,000 files. */
const uploadedMilliseconds = 1000;

export function useUploadSummary(): UploadSummary {
  const [summary, setSummary] = useState(() => summarize(uploads));
  useEffect(() => {
    let soon: number | undefined;
    let later: number | undefined;
    const update = (): void => {
      clearTimeout(soon);
      clearTimeout(later);
      soon = undefined;
      const next = summarize(uploads);
      setSummary(next);
      if (activeFiles(next) > 0) later = setTimeout(update, idleMilliseconds);
    };
    const stop = uploads.subscribe(() => {
      soon ??= setTimeout(update, renderMilliseconds);
    });
    update();
    return () => {
      stop();
      clearTimeout(soon);
      clearTimeout(later);
    };
  }, []);
  return summary;
}

/** Calls back some time after files below the prefix have been uploaded. */
export function useUploaded(
  { bucket, prefix }: { readonly bucket: string; readonly prefix: string },
  onUploaded: () => void,
): void {
  const callback = useRef(onUploaded);
  callback.current = onUploaded;
  useEffect(() => {
    let timer: number | undefined;
    const stop = uploads.subscribeDone((item) => {
      if (item.bucket !== bucket || !item.key.startsWith(prefix)) return;
      const isLast = !uploads.isActive;
      if (isLast) clearTimeout(timer);
      else if (timer !== undefined) return;
      timer = setTimeout(
        () => {
          timer = undefined;
          callback.current();
        },
        isLast ? 0 : uploadedMilliseconds,
      );
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [bucket, prefix]);
}
