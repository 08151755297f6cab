/** The list of a place: its rows, which of them are selected, and the way to other places. */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ObjectSelection } from "../../api/tasks.ts";
import type { Place } from "../location.ts";
import { parentFolder, splitPrefix } from "../objects/folder-path.ts";
import { folderId, objectRows, type ObjectRow } from "../objects/object-rows.ts";
import { nextAfter, previousAfter, withNext } from "../objects/page-trail.ts";
import { activate, extend, noSelection, retain } from "../objects/row-selection.ts";
import { useObjectPage } from "./use-object-page.ts";
import { usePageTrail } from "./use-page-trail.ts";
import { useNavigation } from "./use-place.ts";

export type ObjectsPlace = Extract<Place, { view: "objects" }>;
export type ObjectList = ReturnType<typeof useObjectList>;

export function useObjectList(place: ObjectsPlace) {
  const { go } = useNavigation();
  const { shown, ...fetched } = useObjectPage(place);
  const [trail, keepTrail] = usePageTrail(place.bucket, place.prefix);
  const [selection, setSelection] = useState(noSelection);
  const rows = useMemo(
    () => (shown === undefined ? [] : objectRows(shown.page, place.sort)),
    [shown, place.sort],
  );
  const ids = useMemo(() => rows.map(({ id }) => id), [rows]);
  const { folder } = splitPrefix(shown?.prefix ?? place.prefix);
  const listing =
    shown === undefined ? "" : JSON.stringify([shown.bucket, shown.prefix, shown.after]);
  const isCurrent = shown?.prefix === place.prefix && shown.after === place.after;
  const activeIndex = selection.active === null ? -1 : ids.indexOf(selection.active);

  /** The row that is active when the next list is there. */
  const wanted = useRef<"first" | "last" | { readonly id: string } | undefined>(undefined);
  const last = useRef({ listing, activeIndex });
  useLayoutEffect(() => {
    const before = last.current;
    const next = wanted.current;
    if (before.listing !== listing) {
      wanted.current = undefined;
      const id =
        next === "first"
          ? ids[0]
          : next === "last"
            ? ids.at(-1)
            : ids.find((each) => each === next?.id);
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
  const goNext = (): void => {
    if (next === null || shown === undefined || !isCurrent) return;
    keepTrail(withNext(trail, { after: shown.after, rows: rows.length, next }));
    go({ ...place, after: next, key: null });
  };
  const goPrevious = (): void => {
    if (place.after === "" || !isCurrent) return;
    go({ ...place, after: previousAfter(trail, place.after), key: null });
  };
  const goUp = (): void => {
    const path = splitPrefix(place.prefix);
    if (path.text !== "") go({ ...place, prefix: path.folder, after: "", key: null });
    else if (path.folder === "") go({ view: "buckets" });
    else {
      wanted.current = { id: folderId(path.folder) };
      go({ ...place, prefix: parentFolder(path.folder), after: "", key: null });
    }
  };
  const placeOf = (row: ObjectRow): Place =>
    row.kind === "folder"
      ? { ...place, prefix: row.path, after: "", key: null }
      : { ...place, key: row.path };
  const open = (row: ObjectRow): void => {
    if (row.kind === "folder") wanted.current = "first";
    else setSelection((before) => activate(before, row.id));
    go(placeOf(row));
  };
  /** Moves the active row, and the page at its ends. */
  const move = (step: 1 | -1, isExtending: boolean): void => {
    const index = activeIndex === -1 ? (step === 1 ? 0 : ids.length - 1) : activeIndex + step;
    const id = ids[index];
    if (id !== undefined) {
      setSelection((before) => (isExtending ? extend(before, ids, id) : activate(before, id)));
    } else if (!isExtending && step === 1 && next !== null) {
      wanted.current = "first";
      goNext();
    } else if (!isExtending && step === -1 && place.after !== "") {
      wanted.current = "last";
      goPrevious();
    }
  };
  /** The selected rows, or the active row if no row is selected. */
  const chosenRows = rows.filter(({ id }) =>
    selection.selected.size > 0 ? selection.selected.has(id) : id === selection.active,
  );
  return {
    ...fetched,
    shown,
    trail,
    rows,
    ids,
    folder,
    listing,
    isCurrent,
    selection,
    setSelection,
    chosenRows,
    hasNext: next !== null,
    activeRow: rows[activeIndex],
    goNext,
    goPrevious,
    goUp,
    placeOf,
    open,
    move,
  };
}

export function selectionOf(bucket: string, rows: readonly ObjectRow[]): ObjectSelection {
  const paths = (kind: ObjectRow["kind"]): readonly string[] =>
    rows.filter((row) => row.kind === kind).map(({ path }) => path);
  return { bucket, keys: paths("object"), prefixes: paths("folder") };
}
