/**
 * The list of a place: its rows, which of them are selected, and the way to other places. The list keeps
 * up: after changes of the bucket the page is loaded again, and rows that are still there stay selected
 * and active.
 */
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type ObjectPage, objectListUrl, type ObjectListing } from "../../api/buckets.ts";
import { callApi, type ApiCallError } from "../api-client.ts";
import { useChanges } from "../frame/events.ts";
import { useNavigation } from "../frame/navigation.tsx";
import type { Place } from "../location.ts";
import {
  parentFolder,
  splitPrefix,
  folderId,
  nextAfter,
  objectRows,
  withoutRepeatedFolder,
  type ObjectRow,
} from "./object-rows.ts";
import { activate, extend, noSelection, retain } from "./row-selection.ts";

export type ObjectsPlace = Extract<Place, { view: "objects" }>;
export type ObjectList = ReturnType<typeof useObjectList>;

export function useObjectList(place: ObjectsPlace) {
  const { prefix, after, sort } = place;
  const { go } = useNavigation();
  const { shown, ...fetched } = useObjectPage(place);
  const [selection, setSelection] = useState(noSelection);
  const rows = useMemo(
    () => (shown === undefined ? [] : objectRows(shown.page, sort)),
    [shown, sort],
  );
  const ids = useMemo(() => rows.map(({ id }) => id), [rows]);
  const listing =
    shown === undefined ? "" : JSON.stringify([shown.bucket, shown.prefix, shown.after]);
  const isCurrent = shown?.prefix === prefix && shown.after === after;
  const activeIndex = selection.active === null ? -1 : ids.indexOf(selection.active);

  /** The row that is active when the next list is there. */
  const wanted = useRef<"first" | { readonly id: string } | undefined>(undefined);
  const last = useRef({ listing, activeIndex });
  useLayoutEffect(() => {
    const before = last.current;
    const next = wanted.current;
    if (before.listing !== listing) {
      wanted.current = undefined;
      const id = next === "first" ? ids[0] : ids.find((each) => each === next?.id);
      // The same object again: the rows are not rendered a second time.
      setSelection(id === undefined ? noSelection : activate(noSelection, id));
      return;
    }
    // The list was loaded again. The row that follows a deleted row becomes active.
    setSelection((selected) => {
      const kept = retain(selected, ids);
      if (kept.active !== null || before.activeIndex === -1) return kept;
      return activate(kept, ids[Math.min(before.activeIndex, ids.length - 1)] ?? null);
    });
    // The effect is about new rows: another order has the same rows.
  }, [shown, listing]);
  // After the effect above, which compares with what was shown before.
  useLayoutEffect(() => {
    last.current = { listing, activeIndex };
  });

  const next = shown === undefined ? null : nextAfter(shown.page);
  const goTo = (start: string | null): void => {
    if (start !== null && start !== after && isCurrent) go({ ...place, after: start, key: null });
  };
  const goUp = (): void => {
    const path = splitPrefix(prefix);
    if (path.text !== "") go({ ...place, prefix: path.folder, after: "", key: null });
    else if (path.folder === "") go({ view: "buckets" });
    else {
      wanted.current = { id: folderId(path.folder) };
      go({ ...place, prefix: parentFolder(path.folder), after: "", key: null });
    }
  };
  const placeOf = (row: ObjectRow): Place =>
    row.object === null
      ? { ...place, prefix: row.path, after: "", key: null }
      : { ...place, key: row.path };
  const open = (row: ObjectRow): void => {
    if (row.object === null) wanted.current = "first";
    else setSelection((before) => activate(before, row.id));
    go(placeOf(row));
  };
  /** Moves the active row, with it an open preview, and the page at its end. */
  const move = (step: 1 | -1, isExtending: boolean): void => {
    const index = activeIndex === -1 ? (step === 1 ? 0 : ids.length - 1) : activeIndex + step;
    const row = rows[index];
    if (row !== undefined) {
      setSelection((before) =>
        isExtending ? extend(before, ids, row.id) : activate(before, row.id),
      );
      if (place.key !== null && row.object !== null) go(placeOf(row), true);
    } else if (!isExtending && step === 1 && next !== null) {
      wanted.current = "first";
      goTo(next);
    }
  };
  return {
    ...fetched,
    shown,
    rows,
    ids,
    folder: splitPrefix(shown?.prefix ?? prefix).folder,
    listing,
    selection,
    setSelection,
    /** Where the next page begins; `null` on the last page. */
    next,
    /** Whether the rows are all rows of the folder. */
    isWhole: next === null && shown?.after === "",
    activeRow: rows[activeIndex],
    goTo,
    goUp,
    placeOf,
    open,
    move,
  };
}

interface ShownPage extends ObjectListing {
  readonly page: ObjectPage;
}

interface FetchedPage {
  /**
   * The last page that was loaded, which can be another page than the wanted page: its rows stay until
   * the wanted page is there, so that nothing flickers while a person types.
   */
  readonly shown?: ShownPage;
  readonly problem?: ApiCallError;
  readonly isLoading: boolean;
}

/** Not `useFetched()`, which drops rows of another prefix and begins a frame later. */
function useObjectPage({ bucket, prefix, after }: ObjectListing) {
  const [state, setState] = useState<FetchedPage>({ isLoading: true });
  const [round, setRound] = useState(0);
  const isQuiet = useRef(false);
  // A layout effect runs at once. Other effects wait for the next frame, and so would the list.
  useLayoutEffect(() => {
    const ended = new AbortController();
    if (!isQuiet.current) setState((before) => ({ ...before, isLoading: true }));
    isQuiet.current = false;
    callApi<ObjectPage>(objectListUrl({ bucket, prefix, after }), { signal: ended.signal }).then(
      (loaded) => {
        if (ended.signal.aborted) return;
        const shown = { bucket, prefix, after, page: withoutRepeatedFolder(loaded, after) };
        setState((before) => {
          // An equal page is no reason to render.
          const isSame = !before.problem && JSON.stringify(before.shown) === JSON.stringify(shown);
          if (!isSame) return { shown, isLoading: false };
          return before.isLoading ? { ...before, isLoading: false } : before;
        });
      },
      (problem: ApiCallError) => {
        if (ended.signal.aborted) return;
        // Rows of another folder beside the problem would look like rows of this folder.
        setState(({ shown }) => {
          const isSame =
            shown?.bucket === bucket && shown.prefix === prefix && shown.after === after;
          return { ...(isSame && { shown }), problem, isLoading: false };
        });
      },
    );
    return () => ended.abort();
  }, [bucket, prefix, after, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  useChanges(
    (change) => change.topic === "objects" && change.bucket === bucket,
    () => {
      isQuiet.current = true;
      reload();
    },
  );
  const { shown, problem, isLoading } = state;
  return { shown: shown?.bucket === bucket ? shown : undefined, problem, isLoading, reload };
}
