/** Photos in a bucket. The page is in `public`; this is the interface that it uses. */
import { listFolder } from "./folder.ts";
import { deletePhoto, readPhoto, writePhoto } from "./photo.ts";
import { problem, problemOf } from "./problem.ts";

export default {
  async fetch(request, env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    try {
      if (pathname === "/photos" || pathname === "/photos/") {
        if (request.method === "GET") return await listFolder(env.PHOTOS, searchParams);
        return problem(405, "A folder can only be listed.", { allow: "GET" });
      }
      if (pathname.startsWith("/photos/")) {
        const key = decodeKey(pathname.slice("/photos/".length));
        if (key === null) return problem(400, "The address is not percent-encoded UTF-8.");
        return await photo(env.PHOTOS, key, request);
      }
    } catch (error) {
      return problemOf(error);
    }
    return problem(404, "Photos are at /photos/<key>, their list at /photos, the page at /.");
  },
} satisfies ExportedHandler<Env>;

function photo(bucket: StoreBucket, key: string, request: Request): Promise<Response> | Response {
  switch (request.method) {
    case "GET":
    case "HEAD":
      return readPhoto(bucket, key, request);
    case "PUT":
      return writePhoto(bucket, key, request);
    case "DELETE":
      return deletePhoto(bucket, key, request);
    default:
      return problem(405, "A photo can be read, put and deleted.", {
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
