/** Which rows of a list with rows of one height are in sight. Only these rows are in the document. */
export interface RowView {
  readonly rowHeight: number;
  /** How far the rows are scrolled. A browser that bounces can report less than 0. */
  readonly scrollTop: number;
  /** The height in which rows are in sight. */
  readonly height: number;
}

export interface RowRange {
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
