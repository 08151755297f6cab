/**
 * Selected rows, and the active row, which the arrow keys move. Rows have ids, so that another order
 * of the rows changes nothing. A range goes from the anchor to the active row: while a person extends
 * the range, the rows that were selected before stay selected, and rows that the range leaves do not.
 */
export interface RowSelection {
  readonly selected: ReadonlySet<string>;
  readonly active: string | null;
  readonly anchor: string | null;
  /** The selection without the range. */
  readonly base: ReadonlySet<string>;
}

const none: ReadonlySet<string> = new Set();

export const noSelection: RowSelection = { selected: none, active: null, anchor: null, base: none };

export function activate(selection: RowSelection, id: string | null): RowSelection {
  return { ...selection, active: id, anchor: id, base: selection.selected };
}

export function toggle(selection: RowSelection, id: string): RowSelection {
  const selected = new Set(selection.selected);
  if (!selected.delete(id)) selected.add(id);
  return { selected, active: id, anchor: id, base: selected };
}

export function extend(selection: RowSelection, ids: readonly string[], id: string): RowSelection {
  const anchor =
    selection.anchor !== null && ids.includes(selection.anchor) ? selection.anchor : id;
  const [from, to] = [ids.indexOf(anchor), ids.indexOf(id)].toSorted((left, right) => left - right);
  const range = ids.slice(from, (to as number) + 1);
  return { ...selection, anchor, active: id, selected: new Set([...selection.base, ...range]) };
}

export function selectAll(selection: RowSelection, ids: readonly string[]): RowSelection {
  const selected = new Set(ids);
  return { ...selection, selected, base: selected };
}

/** Selects all rows, or none if all are selected. */
export function toggleAll(selection: RowSelection, ids: readonly string[]): RowSelection {
  return selectAll(selection, ids.every((id) => selection.selected.has(id)) ? [] : ids);
}

export function clear(selection: RowSelection): RowSelection {
  return { ...selection, selected: none, base: none };
}

/** After the rows changed: rows that are gone are neither selected nor active. */
export function retain(selection: RowSelection, ids: readonly string[]): RowSelection {
  const all = new Set(ids);
  const kept = (id: string | null): string | null => (id !== null && all.has(id) ? id : null);
  const keptOf = (set: ReadonlySet<string>): ReadonlySet<string> =>
    new Set([...set].filter((id) => all.has(id)));
  return {
    selected: keptOf(selection.selected),
    base: keptOf(selection.base),
    active: kept(selection.active),
    anchor: kept(selection.anchor),
  };
}
