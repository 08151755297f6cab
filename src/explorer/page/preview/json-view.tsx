/** JSON as a tree. Arrow keys move in the tree, and open and close what is in it. */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { counted } from "../../../base/format.ts";
import type { JsonNode } from "./json-reader.ts";
import { childCount, jsonRows, rootId, type JsonRow } from "./json-rows.ts";

/** The text view has longer strings whole. */
const stringLengthMax = 2000;

export function JsonView({ root }: { readonly root: JsonNode }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set([rootId]));
  const [activeId, setActiveId] = useState(rootId);
  const tree = useRef<HTMLDivElement>(null);
  const hasMoved = useRef(false);
  const rows = useMemo(() => jsonRows(root, open), [root, open]);
  const activeIndex = Math.max(
    rows.findIndex(({ id }) => id === activeId),
    0,
  );
  useLayoutEffect(() => {
    if (hasMoved.current) tree.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus();
    hasMoved.current = false;
  }, [activeIndex]);
  const moveTo = (row: JsonRow | undefined): void => {
    if (row === undefined) return;
    hasMoved.current = true;
    setActiveId(row.id);
  };
  const setRowOpen = ({ id }: JsonRow, isOpen: boolean): void => {
    const next = new Set(open);
    if (isOpen) next.add(id);
    else next.delete(id);
    setOpen(next);
    setActiveId(id);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[activeIndex] as JsonRow;
    switch (event.key) {
      case "ArrowDown":
        moveTo(rows[activeIndex + 1]);
        break;
      case "ArrowUp":
        moveTo(rows[activeIndex - 1]);
        break;
      case "Home":
        moveTo(rows[0]);
        break;
      case "End":
        moveTo(rows.at(-1));
        break;
      case "ArrowRight":
        if (row.isOpen) moveTo(rows[activeIndex + 1]);
        else if (row.isExpandable) setRowOpen(row, true);
        break;
      case "ArrowLeft":
        if (row.isOpen) setRowOpen(row, false);
        else moveTo(rows.find(({ id }) => id === row.parentId));
        break;
      case "Enter":
      case " ":
        if (row.isExpandable) setRowOpen(row, !row.isOpen);
        break;
      default:
        return;
    }
    event.preventDefault();
  };
  return (
    <div
      ref={tree}
      class="preview-json code"
      role="tree"
      aria-label="JSON of the object"
      onKeyDown={onKeyDown}
    >
      {rows.map((row, index) => (
        <div
          key={row.id}
          class="json-row"
          role="treeitem"
          aria-level={row.level}
          {...(row.isExpandable && { "aria-expanded": row.isOpen })}
          aria-selected={index === activeIndex}
          tabIndex={index === activeIndex ? 0 : -1}
          style={{ "--level": row.level - 1 }}
          onClick={() => {
            // A person who selects text to copy does not want to open or close.
            if (getSelection()?.isCollapsed === false) return;
            if (row.isExpandable) setRowOpen(row, !row.isOpen);
            else setActiveId(row.id);
          }}
        >
          <span class="json-marker" aria-hidden="true">
            {row.isExpandable ? (row.isOpen ? "▾" : "▸") : ""}
          </span>
          <RowLabel row={row} />
          {row.node !== null && <NodeValue node={row.node} isOpen={row.isOpen} />}
        </div>
      ))}
    </div>
  );
}

function RowLabel({ row: { label } }: { readonly row: JsonRow }) {
  if (label === null) return null;
  if (label.kind === "range") return <span class="json-range">{label.text}</span>;
  return (
    <>
      {label.kind === "name" ? (
        <bdi class="tone-attribute">{JSON.stringify(label.text)}</bdi>
      ) : (
        <span class="json-range">{label.text}</span>
      )}
      <span class="json-colon">:</span>
    </>
  );
}

function NodeValue({ node, isOpen }: { readonly node: JsonNode; readonly isOpen: boolean }) {
  switch (node.kind) {
    case "number":
      return <span class="tone-number">{node.literal}</span>;
    case "word":
      return <span class="tone-number">{node.word}</span>;
    case "string": {
      const { text } = node;
      const hidden = text.length - stringLengthMax;
      return (
        <>
          <bdi class="tone-string">{JSON.stringify(text.slice(0, stringLengthMax))}</bdi>
          {hidden > 0 && <span class="json-range">… {counted(hidden, "more character")}</span>}
        </>
      );
    }
    case "object":
    case "array": {
      const [begin, end] = node.kind === "object" ? ["{", "}"] : ["[", "]"];
      const count = childCount(node);
      const noun = node.kind === "object" ? "member" : "item";
      return (
        <span>
          {count === 0 ? `${begin}${node.isCut ? " …" : end}` : isOpen ? begin : `${begin}…${end}`}{" "}
          {count > 0 && (
            <span class="json-range">
              {counted(count, noun)}
              {node.isCut && ", and more that is not loaded"}
            </span>
          )}
        </span>
      );
    }
  }
}
