import { describe, expect, it } from "vitest";
import {
  activate,
  clear,
  extend,
  noSelection,
  retain,
  toggle,
  toggleAll,
  type RowSelection,
} from "./row-selection.ts";

const ids = ["a", "b", "c", "d", "e"];
const selected = (selection: RowSelection): readonly string[] => [...selection.selected].toSorted();

describe("extend()", () => {
  it("selects from the active row to the given row, in both directions", () => {
    const begun = activate(noSelection, "c");
    expect(selected(extend(begun, ids, "e"))).toEqual(["c", "d", "e"]);
    expect(selected(extend(begun, ids, "a"))).toEqual(["a", "b", "c"]);
  });

  it("gives up rows that the range leaves, and keeps rows that were selected before", () => {
    const begun = activate(toggle(noSelection, "a"), "c");
    const wide = extend(begun, ids, "e");
    expect(selected(wide)).toEqual(["a", "c", "d", "e"]);
    expect(selected(extend(wide, ids, "d"))).toEqual(["a", "c", "d"]);
  });

  it("begins at the given row without an active row", () => {
    expect(selected(extend(noSelection, ids, "b"))).toEqual(["b"]);
    expect(selected(extend(activate(noSelection, "gone"), ids, "b"))).toEqual(["b"]);
  });
});

describe("toggle()", () => {
  it("selects and gives up one row", () => {
    const both = toggle(toggle(noSelection, "a"), "c");
    expect(selected(both)).toEqual(["a", "c"]);
    expect(selected(toggle(both, "a"))).toEqual(["c"]);
  });
});

describe("toggleAll()", () => {
  it("selects all rows, and none if all are selected", () => {
    const all = toggleAll(toggle(noSelection, "b"), ids);
    expect(selected(all)).toEqual(ids);
    expect(selected(toggleAll(all, ids))).toEqual([]);
  });
});

it("clear() keeps the active row", () => {
  expect(clear(toggle(noSelection, "b"))).toMatchObject({ active: "b", selected: new Set() });
});

describe("retain()", () => {
  it("gives up rows that are gone", () => {
    const kept = retain(toggle(toggle(noSelection, "a"), "c"), ["a", "b"]);
    expect(selected(kept)).toEqual(["a"]);
    expect(kept).toMatchObject({ active: null, anchor: null });
  });
});
