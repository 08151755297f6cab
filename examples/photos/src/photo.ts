/** One photo: `/photos/<key>`. */
import { contentTypeOf } from "./content-type.ts";
import { checkPreconditions, isConditional, serveObject } from "../../http/serve-object.ts";
import { problem } from "./problem.ts";

const changed = "The photo does not match the conditions of the request. Get the photo again.";

/** GET and HEAD. */
export async function readPhoto(bucket: StoreBucket, key: string, request: Request) {
  const version = new URL(request.url).searchParams.get("v");
  const response = await serveObject(bucket, key, request, (photo, headers) => {
    headers.set("cache-control", cacheControl(version, photo.etag));
    // Photos come from users. No file may run as a page of this site.
    headers.set("x-content-type-options", "nosniff");
    headers.set(
      "content-security-policy",
      "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    );
  });
  if (response?.status === 412) return problem(412, changed, response.headers);
  return response ?? problem(404, `There is no photo "${key}".`);
}

/**
 * A photo can be replaced, so a browser revalidates its copy every time: the response is a 304
 * without content. The content at an address with the version (`?v=<etag>`) never changes, so a
 * browser keeps it without revalidation.
 */
export function cacheControl(version: string | null, etag: string): string {
  return version === etag ? "public, max-age=31536000, immutable" : "no-cache";
}

/** PUT: 201 for a new photo, 200 for a replaced photo. */
export async function writePhoto(bucket: StoreBucket, key: string, request: Request) {
  const seen = await bucket.head(key);
  const options: StorePutOptions = {
    httpMetadata: { contentType: contentTypeOf(key, request.headers.get("content-type")) },
  };
  if (isConditional(request.headers)) {
    if (checkPreconditions("PUT", request.headers, seen) === "failed") return problem(412, changed);
    // The conditions hold for the photo that head() returned. The bucket checks in one step with
    // the write that this photo is still current, so of two concurrent writers one gets a 412.
    options.onlyIf = seen === null ? { etagDoesNotMatch: "*" } : { etagMatches: seen.etag };
  }
  const stored = await (bucket.put(key, request.body, options) as Promise<StoreObject | null>);
  if (stored === null) return problem(412, changed);
  return Response.json(describePhoto(stored), {
    status: seen === null ? 201 : 200,
    headers: { etag: stored.httpEtag, ...(seen === null && { location: photoPath(key) }) },
  });
}

export async function deletePhoto(bucket: StoreBucket, key: string, request: Request) {
  const seen = await bucket.head(key);
  if (seen === null) return problem(404, `There is no photo "${key}".`);
  if (checkPreconditions("DELETE", request.headers, seen) === "failed")
    return problem(412, changed);
  await bucket.delete(key);
  return new Response(null, { status: 204 });
}

/** A photo in the JSON of the interface. */
export function describePhoto(photo: StoreObject) {
  return {
    key: photo.key,
    url: photoPath(photo.key),
    size: photo.size,
    contentType: photo.httpMetadata?.contentType ?? "application/octet-stream",
    etag: photo.etag,
    uploaded: photo.uploaded.toISOString(),
  };
}

/** Encodes every character of the key except the slash, which separates folders. */
export function photoPath(key: string): string {
  return `/photos/${key.split("/").map(encodeURIComponent).join("/")}`;
}
