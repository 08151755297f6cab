/** The rows of a scrolled list that are in the document. */
import type { RefObject } from "preact";
import { useCallback, useLayoutEffect, useState } from "preact/hooks";
import {
  scrollTopToShow,
  visibleRows,
  type RowRange,
  type RowView,
} from "../objects/row-window.ts";

/** Rows before and after those in sight: what a fast scroll of one frame passes. */
const marginRowsMin = 6;
/** Rows are added several at a time. */
const marginRows = 18;

export interface RowWindow extends RowRange {
  readonly rowHeight: number;
  /** Scrolls no more than needed. */
  readonly show: (index: number) => void;
}

/** @param list scrolls; its header stays in sight, and is as high as a row */
export function useRowWindow(list: RefObject<HTMLElement | null>, count: number): RowWindow {
  const [rowHeight] = useState(readRowHeight);
  const [range, setRange] = useState<RowRange>({ first: 0, end: Math.min(count, 2 * marginRows) });
  const view = useCallback((): RowView => {
    const { scrollTop, clientHeight } = list.current ?? { scrollTop: 0, clientHeight: 0 };
    return { rowHeight, scrollTop, height: Math.max(0, clientHeight - rowHeight) };
  }, [list, rowHeight]);
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
