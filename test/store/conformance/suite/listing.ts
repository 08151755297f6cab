/** Paging through listings. */
import type { StoreBucket, StoreListOptions, StoreObjects } from "../../../../src/types/store.ts";

/** The listed keys, without the prefix of the test. */
export function keysOf(page: StoreObjects, prefix = ""): string[] {
  return page.objects.map((object) => object.key.slice(prefix.length));
}

/** All pages of a listing. */
export async function everyPage(
  bucket: StoreBucket,
  options: StoreListOptions,
): Promise<StoreObjects[]> {
  const pages = [await bucket.list(options)];
  for (;;) {
    const last = pages.at(-1);
    if (last === undefined || !last.truncated) return pages;
    if (pages.length > 1000) throw new Error("Cannot list: the cursor does not advance");
    pages.push(await bucket.list({ ...options, cursor: last.cursor }));
  }
}

/** Stores small objects, 100 at a time. */
export async function putAll(bucket: StoreBucket, keys: string[]): Promise<void> {
  const atOnce = 100;
  for (let start = 0; start < keys.length; start += atOnce) {
    await Promise.all(keys.slice(start, start + atOnce).map((key) => bucket.put(key, "x")));
  }
}
