/** Where a call leads: to its object, to the same query, to the records of its zone. */
import type { CallEntry } from "../../api/activity.ts";
import { bucketPlace, type Place } from "../location.ts";

/** `null` for a call that has no page. */
export function placeOfCall({ kind, method, place, subject }: CallEntry): Place | null {
  switch (kind) {
    case "bucket":
      return place === "" ? null : placeInBucket(place, method, subject);
    case "query":
      return subject === "" ? null : { view: "lookup", name: subject, type: method };
    case "api":
      return placeInApi(subject);
    case "other":
      return null;
  }
}

/** The path has the id of the zone, which the view of the records takes for its name. */
function placeInApi(path: string): Place | null {
  const [, zones, id] = /^\/client\/v4(\/zones)(?:\/([0-9a-f]{32}))?(?=[/?]|$)/.exec(path) ?? [];
  if (id !== undefined) return { view: "records", zone: id, search: "", record: null };
  return zones === undefined ? null : { view: "zones" };
}

function placeInBucket(bucket: string, method: string, subject: string): Place {
  if (method === "listMultipartUploads") return { view: "uploads", bucket };
  if (method === "list") return bucketPlace(bucket, subject);
  if (subject === "") return bucketPlace(bucket);
  const folder = subject.slice(0, subject.lastIndexOf("/") + 1);
  return { view: "objects", bucket, prefix: folder, after: "", sort: "key", key: subject };
}
