/**
 * The rows of a JSON tree: what is open, line by line. A container with more than a hundred children
 * shows ranges of them, and ranges of ranges, so a container adds at most a hundred rows.
 */
import type { JsonNode } from "./json-reader.ts";

const groupSize = 100;

export interface JsonRow {
  /** Unique in the tree, and the same while the tree is the same. */
  readonly id: string;
  /** The row of the container. */
  readonly parentId: string | null;
  /** From 1. */
  readonly level: number;
  /** The name of a member, the index of an item, or a range of children: `100 … 199`. */
  readonly label: { readonly kind: "name" | "index" | "range"; readonly text: string } | null;
  /** `null` for a range. */
  readonly node: JsonNode | null;
  readonly isExpandable: boolean;
  readonly isOpen: boolean;
}

export const rootId = "$";

export function jsonRows(root: JsonNode, open: ReadonlySet<string>): readonly JsonRow[] {
  const rows: JsonRow[] = [];
  /** What is still to be shown; the next row is last. */
  const pending: Pending[] = [
    {
      id: rootId,
      parentId: null,
      level: 1,
      label: null,
      node: root,
      from: 0,
      to: childCount(root),
    },
  ];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { id, parentId, level, label, node, isRange = false, from, to } = next;
    const isExpandable = to > from;
    const isOpen = isExpandable && open.has(id);
    rows.push({ id, parentId, level, label, node: isRange ? null : node, isExpandable, isOpen });
    if (isOpen) pending.push(...childrenOf(next).toReversed());
  }
  return rows;
}

interface Pending extends Pick<JsonRow, "id" | "parentId" | "level" | "label"> {
  /** The node, or the node whose children the range has. */
  readonly node: JsonNode;
  readonly isRange?: boolean;
  readonly from: number;
  readonly to: number;
}

function childrenOf({ id, level, node, from, to }: Pending): Pending[] {
  const step = rangeStep(to - from);
  const children: Pending[] = [];
  for (let index = from; index < to; index += step) {
    const place = { parentId: id, level: level + 1 };
    if (step > 1) {
      const end = Math.min(index + step, to);
      const label = { kind: "range" as const, text: `${index} … ${end - 1}` };
      const rangeId = `${id}/${index}-${end}`;
      children.push({ ...place, id: rangeId, label, node, isRange: true, from: index, to: end });
      continue;
    }
    const { label, node: child } = childAt(node, index);
    children.push({
      ...place,
      id: `${id}/${index}`,
      label,
      node: child,
      from: 0,
      to: childCount(child),
    });
  }
  return children;
}

/** How many children a row stands for, so that there are at most a hundred rows. */
function rangeStep(count: number): number {
  let step = 1;
  while (count > step * groupSize) step *= groupSize;
  return step;
}

function childAt(node: JsonNode, index: number): { label: JsonRow["label"]; node: JsonNode } {
  if (node.kind === "object") {
    const member = node.members[index];
    if (member !== undefined) {
      return { label: { kind: "name", text: member.name }, node: member.value };
    }
  } else if (node.kind === "array") {
    const item = node.items[index];
    if (item !== undefined) return { label: { kind: "index", text: String(index) }, node: item };
  }
  throw new RangeError(`A JSON ${node.kind} has no child ${index}.`);
}

export function childCount(node: JsonNode): number {
  if (node.kind === "object") return node.members.length;
  return node.kind === "array" ? node.items.length : 0;
}
