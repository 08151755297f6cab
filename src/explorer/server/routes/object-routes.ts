/** Objects: their lists, their metadata, their content, and links to them. */
import type { Route } from "../context.ts";
import { downloadFolder, downloadSelection } from "../archive.ts";
import { makeLink } from "../object-link.ts";
import { listObjects } from "../object-list.ts";
import { changeMetadata, describeObject } from "../object-metadata.ts";
import { readContent } from "../object-reading.ts";
import { writeObject } from "../object-writing.ts";

export const objectRoutes: readonly Route[] = [
  { method: "GET", path: "/api/buckets/:bucket/objects", handle: listObjects },
  { method: "GET", path: "/api/buckets/:bucket/object", handle: describeObject },
  { method: "PATCH", path: "/api/buckets/:bucket/object", handle: changeMetadata },
  { method: "GET", path: "/api/buckets/:bucket/content", handle: readContent },
  { method: "PUT", path: "/api/buckets/:bucket/content", handle: writeObject },
  { method: "GET", path: "/api/buckets/:bucket/archive", handle: downloadFolder },
  { method: "POST", path: "/api/buckets/:bucket/archive", handle: downloadSelection },
  { method: "POST", path: "/api/buckets/:bucket/links", handle: makeLink },
];
