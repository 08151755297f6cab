/** The keys of the list of objects. */
import { toggle, toggleAll } from "../objects/row-selection.ts";
import type { ObjectList } from "../state/use-object-list.ts";
import type { SelectionActions } from "./object-toolbar.tsx";
import { useShortcuts, type Shortcut } from "./shortcuts.tsx";

interface ObjectKeysOptions {
  readonly list: ObjectList;
  readonly actions: SelectionActions;
  readonly onSearch: () => void;
  readonly onUndo: () => void;
  readonly onEscape: () => void;
  /** Gives the focus to the list. */
  readonly focusList: () => void;
}

export function useObjectKeys(options: ObjectKeysOptions): void {
  const { list, actions, onSearch, onUndo, onEscape, focusList } = options;
  const { activeRow, ids, setSelection, open, move } = list;
  const inList = (label: string, act: Shortcut["act"]): Shortcut => ({
    label,
    act: (event) => {
      focusList();
      act(event);
    },
    when: isForList,
  });
  const moveBy = (step: 1 | -1) => (event: KeyboardEvent) => move(step, event.shiftKey);
  useShortcuts({
    "/": { label: "Search by prefix", act: onSearch },
    ArrowDown: inList("Next row; with Shift, extend the selection", moveBy(1)),
    ArrowUp: inList("Previous row; with Shift, extend the selection", moveBy(-1)),
    Enter: inList("Open the folder or the details", () => {
      if (activeRow !== undefined) open(activeRow);
    }),
    Backspace: inList("Go up", list.goUp),
    ArrowLeft: inList("Go up", list.goUp),
    " ": inList("Select the row", () => {
      if (activeRow !== undefined) setSelection((before) => toggle(before, activeRow.id));
    }),
    a: inList("Select all of the page", () => setSelection((before) => toggleAll(before, ids))),
    Delete: inList("Delete", actions.onDelete),
    z: { label: "Undo the deletion", act: onUndo },
    c: inList("Copy", actions.onCopy),
    m: inList("Move", actions.onMove),
    r: inList("Rename", actions.onRename),
    n: inList("Next page", list.goNext),
    p: inList("Previous page", list.goPrevious),
    Escape: { label: "Close the details, or clear the selection", act: onEscape },
  });
}

/** The details and buttons have keys of their own: a video is paused by Space, a button is pressed. */
function isForList({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return true;
  if (target.closest(".object-side") !== null) return false;
  return !((key === "Enter" || key === " ") && target.closest("a, button, summary") !== null);
}
