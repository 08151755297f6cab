/** The list that an address of the page shows, as a request that the browser sends early. */
import { objectListUrl } from "../api/object-list-url.ts";

/** A name of a bucket needs no encoding. */
const addressPattern = /^\/buckets\/([a-z0-9-]+)$/;

/** @returns the value of a `Link` header; `null` for an address that shows no list */
export function listPreload({ pathname, searchParams }: URL): string | null {
  const [, bucket] = addressPattern.exec(pathname) ?? [];
  if (bucket === undefined) return null;
  const url = objectListUrl({
    bucket,
    prefix: searchParams.get("prefix") ?? "",
    after: searchParams.get("after") ?? "",
  });
  // The browser takes the response for the call of the page only if both have the same mode: `fetch()`
  // has the mode of `crossorigin`, also for its own origin.
  return `<${url}>; rel=preload; as=fetch; crossorigin`;
}
