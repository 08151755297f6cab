/**
 * The pages of a list that were visited, in their order. A list can only be read forwards, so the way
 * back to the previous page is remembered, and with it the number of the rows before each page.
 */
import type { ObjectPage } from "../../api/buckets.ts";

export interface PageStart {
  /** The page begins after this key; empty for the first page. */
  readonly after: string;
  /** How many rows come before the page. */
  readonly offset: number;
}

/** Begins with the first page. */
export type PageTrail = readonly PageStart[];

export const firstTrail: PageTrail = [{ after: "", offset: 0 }];

/** `undefined` for a page that was not reached from the first page: by a shared link, for example. */
export function findStart(trail: PageTrail, after: string): PageStart | undefined {
  return trail.find((start) => start.after === after);
}

/** The page before a page; the first page if the way to the page is not known. */
export function previousAfter(trail: PageTrail, after: string): string {
  const index = trail.findIndex((start) => start.after === after);
  return trail[index - 1]?.after ?? "";
}

/** The trail with the page that follows a page. A page that is not in the trail changes nothing. */
export function withNext(
  trail: PageTrail,
  current: { readonly after: string; readonly rows: number; readonly next: string },
): PageTrail {
  const index = trail.findIndex((start) => start.after === current.after);
  const start = trail[index];
  if (start === undefined) return trail;
  return [
    ...trail.slice(0, index + 1),
    { after: current.next, offset: start.offset + current.rows },
  ];
}

/** Where the next page begins: after the last key or folder of this page; `null` on the last page. */
export function nextAfter(page: ObjectPage): string | null {
  if (page.cursor === null) return null;
  const object = page.objects.at(-1)?.key;
  const folder = page.folders.at(-1);
  if (object === undefined || folder === undefined) return object ?? folder ?? null;
  return comesAfter(folder, object) ? folder : object;
}

/** Keys are in the order of their UTF-8 bytes, which is the order of their code points. */
function comesAfter(left: string, right: string): boolean {
  const [leftPoints, rightPoints] = [Array.from(left), Array.from(right)];
  for (const [index, point] of leftPoints.entries()) {
    const other = rightPoints[index];
    if (other === undefined) return true;
    const difference = (point.codePointAt(0) as number) - (other.codePointAt(0) as number);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

/**
 * The keys in the last folder of a page come after the folder, so the server lists this folder on the
 * next page again.
 */
export function withoutRepeatedFolder(page: ObjectPage, after: string): ObjectPage {
  return page.folders[0] === after ? { ...page, folders: page.folders.slice(1) } : page;
}
