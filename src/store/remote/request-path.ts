/**
 * The path of a request to a bucket: `/bucket/key`, encoded.
 *
 * `fetch` resolves the segments `.` and `..` of a path, also as `%2E`. A key with such a segment has its
 * slashes as `%2F`, so that the path has no such segment: `/bucket/a%2F..%2Fb`. A service decodes the key
 * and finds the same text. Services differ in what they verify: some decode the path and sign slashes
 * (Ceph), others keep `%2F`.
 */
import { encodeComponent } from "../../http/uri.ts";

export interface RequestPath {
  readonly sent: string;
  /** The path with slashes, where `sent` has `%2F`; otherwise the same text. */
  readonly decoded: string;
}

export function requestPath(bucketName: string, key: string | undefined): RequestPath {
  const bucket = `/${encodeComponent(bucketName)}`;
  if (key === undefined) return { sent: bucket, decoded: bucket };
  const segments = key.split("/").map(encodeComponent);
  const decoded = `${bucket}/${segments.join("/")}`;
  const hasDots = segments.some((segment) => segment === "." || segment === "..");
  return { sent: hasDots ? `${bucket}/${segments.join("%2F")}` : decoded, decoded };
}
