/** The rows of a page of a list: folders first, then objects in the order that a person chose. */
import type { ListedObject, ObjectPage } from "../../api/buckets.ts";
import type { ObjectSort } from "../location.ts";

export type ObjectRow =
  | { readonly kind: "folder"; readonly id: string; readonly path: string }
  | {
      readonly kind: "object";
      readonly id: string;
      readonly path: string;
      readonly object: ListedObject;
    };

export type SortColumn = "key" | "size" | "uploaded";

/**
 * The server sorts by key, in an order of bytes that text comparison in a browser does not have.
 * Objects with an equal size or time stay in this order.
 */
export function objectRows(page: ObjectPage, sort: ObjectSort): readonly ObjectRow[] {
  const folders = page.folders.map((path): ObjectRow => ({
    kind: "folder",
    id: folderId(path),
    path,
  }));
  const { column, isDescending } = parseSort(sort);
  const objects =
    column === "key"
      ? page.objects
      : page.objects.toSorted((left, right) =>
          isDescending ? right[column] - left[column] : left[column] - right[column],
        );
  const rows = objects.map((object): ObjectRow => ({
    kind: "object",
    id: objectId(object.key),
    path: object.key,
    object,
  }));
  return sort === "-key" ? [...folders.toReversed(), ...rows.toReversed()] : [...folders, ...rows];
}

export function folderId(path: string): string {
  return `folder ${path}`;
}

function objectId(key: string): string {
  return `object ${key}`;
}

export function parseSort(sort: ObjectSort): {
  readonly column: SortColumn;
  readonly isDescending: boolean;
} {
  return {
    column: sort.replace("-", "") as SortColumn,
    isDescending: sort.startsWith("-"),
  };
}

/** The order after a click on the header of a column: the other direction, or the column's usual direction. */
export function nextSort(sort: ObjectSort, column: SortColumn): ObjectSort {
  const current = parseSort(sort);
  if (current.column === column) return current.isDescending ? column : `-${column}`;
  // The largest and the newest objects are what people look for.
  return column === "key" ? "key" : `-${column}`;
}
