/** Photos in a bucket. This is the HTTP interface of the page in `public`. */
import { listFolder } from "./folder.ts";
import { deletePhoto, readPhoto, writePhoto } from "./photo.ts";
import { problem, problemOf } from "./problem.ts";

export default {
  async fetch(request, env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    try {
      if (pathname === "/photos" || pathname === "/photos/") {
        if (request.method === "GET") return await listFolder(env.PHOTOS, searchParams);
        return problem(405, "Use GET to list a folder.", { allow: "GET" });
      }
      if (pathname.startsWith("/photos/")) {
        const key = decodeKey(pathname.slice("/photos/".length));
        if (key === null) return problem(400, "The address is not percent-encoded UTF-8.");
        return await routePhoto(env.PHOTOS, key, request);
      }
    } catch (error) {
      return problemOf(error);
    }
    return problem(404, "The page is at /, folders are at /photos, and photos at /photos/<key>.");
  },
} satisfies ExportedHandler<Env>;

function routePhoto(
  bucket: StoreBucket,
  key: string,
  request: Request,
): Promise<Response> | Response {
  switch (request.method) {
    case "GET":
    case "HEAD":
      return readPhoto(bucket, key, request);
    case "PUT":
      return writePhoto(bucket, key, request);
    case "DELETE":
      return deletePhoto(bucket, key, request);
    default:
      return problem(405, "Use GET, HEAD, PUT or DELETE.", {
        allow: "GET, HEAD, PUT, DELETE",
      });
  }
}

function decodeKey(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}
