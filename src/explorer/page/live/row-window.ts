/** Which rows of a long list are in the document: those in sight, and some around them. */
export interface RowWindow {
  readonly first: number;
  /** After the last row */
  readonly end: number;
}

/** Rows beyond the edges, so that a fast scroll shows no gap. */
const overscan = 8;

export function rowWindow(
  scroll: { readonly top: number; readonly height: number },
  rows: { readonly count: number; readonly height: number },
): RowWindow {
  const first = Math.max(0, Math.floor(scroll.top / rows.height) - overscan);
  const end = Math.ceil((scroll.top + scroll.height) / rows.height) + overscan;
  return { first: Math.min(first, rows.count), end: Math.min(end, rows.count) };
}

/** The scroll position at which the row is wholly in sight: the nearest one. */
export function scrollToRow(
  index: number,
  rowHeight: number,
  scroll: { readonly top: number; readonly height: number },
): number {
  const top = index * rowHeight;
  if (top < scroll.top) return top;
  return Math.max(scroll.top, top + rowHeight - scroll.height);
}
