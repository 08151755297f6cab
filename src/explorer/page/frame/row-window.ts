/**
 * The rows of a scrolled list with rows of one height: only the rows in sight, and some around them,
 * are in the document. When rows come and go above, the row at the top of the window keeps its place.
 */
import type { RefObject } from "preact";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";

interface RowView {
  readonly rowHeight: number;
  /** How far the rows are scrolled. A browser that bounces can report less than 0. */
  readonly scrollTop: number;
  /** The height in which rows are in sight. */
  readonly height: number;
}

interface RowRange {
  readonly first: number;
  /** After the last row. */
  readonly end: number;
}

/** @param margin rows before and after those in sight, so that a fast scroll shows no gap */
export function visibleRows(view: RowView, count: number, margin: number): RowRange {
  const top = Math.max(0, view.scrollTop);
  const first = Math.floor(top / view.rowHeight) - margin;
  const end = Math.ceil((top + view.height) / view.rowHeight) + margin;
  return {
    first: Math.min(count, Math.max(0, first)),
    end: Math.min(count, Math.max(0, end)),
  };
}

/** The nearest scroll position that shows the whole row. */
export function scrollTopToShow(view: RowView, index: number): number {
  const top = index * view.rowHeight;
  const bottom = top + view.rowHeight;
  if (top < view.scrollTop) return top;
  if (bottom > view.scrollTop + view.height) return Math.max(0, bottom - view.height);
  return view.scrollTop;
}

/**
 * The scroll position at which the first row in sight that is still there has the place that it had.
 * A list that is not scrolled shows its first row, whichever it is.
 */
export function keptScrollTop(
  before: readonly unknown[],
  after: readonly unknown[],
  { scrollTop, rowHeight }: Pick<RowView, "scrollTop" | "rowHeight">,
): number {
  if (scrollTop <= 0) return scrollTop;
  const top = Math.floor(scrollTop / rowHeight);
  const places = new Map(after.map((id, index) => [id, index]));
  for (let index = top; index < before.length; index++) {
    const place = places.get(before[index]);
    if (place !== undefined) return Math.max(0, scrollTop + (place - index) * rowHeight);
  }
  return scrollTop;
}

/** Rows before and after those in sight: what a fast scroll of one frame passes. */
const marginRowsMin = 6;
/** Rows are added several at a time. */
const marginRows = 18;

export interface RowWindow extends RowRange {
  readonly rowHeight: number;
  /** Scrolls no more than needed. */
  readonly show: (index: number) => void;
}

/**
 * @param list scrolls; its header stays in sight, and is as high as a row
 * @param ids of the rows: the same array while the rows are the same
 */
export function useRowWindow(
  list: RefObject<HTMLElement | null>,
  ids: readonly (string | number)[],
): RowWindow {
  const count = ids.length;
  const [rowHeight] = useState(readRowHeight);
  const [range, setRange] = useState<RowRange>({ first: 0, end: Math.min(count, 2 * marginRows) });
  const view = useCallback((): RowView => {
    const { scrollTop, clientHeight } = list.current ?? { scrollTop: 0, clientHeight: 0 };
    return { rowHeight, scrollTop, height: Math.max(0, clientHeight - rowHeight) };
  }, [list, rowHeight]);
  const shownIds = useRef(ids);
  useLayoutEffect(() => {
    const element = list.current;
    const before = shownIds.current;
    shownIds.current = ids;
    if (element === null || before === ids) return;
    const kept = keptScrollTop(before, ids, view());
    if (kept !== element.scrollTop) element.scrollTop = kept;
  }, [list, ids, view]);
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null) return;
    const update = (): void => {
      const needed = visibleRows(view(), count, marginRowsMin);
      const next = visibleRows(view(), count, marginRows);
      setRange((before) =>
        before.first <= needed.first && before.end >= needed.end ? before : next,
      );
    };
    update();
    const sizes = new ResizeObserver(update);
    sizes.observe(element);
    element.addEventListener("scroll", update, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener("scroll", update);
    };
  }, [list, count, view]);
  const show = useCallback(
    (index: number) => {
      const element = list.current;
      if (element !== null) element.scrollTop = scrollTopToShow(view(), index);
    },
    [list, view],
  );
  // The rows can be fewer since the last measure.
  return { first: Math.min(range.first, count), end: Math.min(range.end, count), rowHeight, show };
}

function readRowHeight(): number {
  return Number.parseFloat(
    getComputedStyle(document.documentElement).getPropertyValue("--row-height"),
  );
}
