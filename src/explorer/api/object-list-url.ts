/**
 * The request of the page for a list of objects. The server names the same request in the head of the
 * page, so that the browser sends it before the scripts of the page run.
 */

/** What is listed. */
export interface ObjectListing {
  readonly bucket: string;
  readonly prefix: string;
  /** The page begins after this key; empty on the first page. */
  readonly after: string;
}

export const delimiter = "/";

const pageRowsMax = 1000;

export function objectListUrl({ bucket, prefix, after }: ObjectListing): string {
  const query = new URLSearchParams({ prefix, delimiter, limit: String(pageRowsMax) });
  if (after !== "") query.set("after", after);
  return `/api/buckets/${encodeURIComponent(bucket)}/objects?${query.toString()}`;
}
