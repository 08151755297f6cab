/** The files: `/files`, and `/files/<key>` with ranges, so that a download can be resumed. */
import { serveObject } from "../../http/serve-object.ts";
import { problem } from "./problem.ts";

export async function listFiles(bucket: StoreBucket, cursor: string | null): Promise<Response> {
  const page = await bucket.list({ limit: 100, ...(cursor !== null && { cursor }) });
  return Response.json(
    {
      files: page.objects.map(({ key, size, uploaded }) => ({
        key,
        url: filePath(key),
        size,
        uploaded: uploaded.toISOString(),
      })),
      ...(page.truncated && { cursor: page.cursor }),
    },
    { headers: { "cache-control": "no-store" } },
  );
}

export async function routeFile(bucket: StoreBucket, key: string, request: Request) {
  switch (request.method) {
    case "GET":
    case "HEAD": {
      const response = await serveObject(bucket, key, request, (_file, headers) => {
        headers.set("cache-control", "no-cache");
        headers.set("content-disposition", disposition(key));
        headers.set("x-content-type-options", "nosniff");
      });
      return response ?? problem(404, `There is no file "${key}".`);
    }
    case "DELETE":
      await bucket.delete(key);
      return new Response(null, { status: 204 });
    default:
      return problem(405, "Use GET, HEAD or DELETE.", { allow: "GET, HEAD, DELETE" });
  }
}

export function filePath(key: string): string {
  return `/files/${key.split("/").map(encodeURIComponent).join("/")}`;
}

/** The browser saves a file and never shows it, because files come from users (RFC 8187). */
export function disposition(key: string): string {
  const name = encodeURIComponent(key.split("/").at(-1) ?? key).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename*=UTF-8''${name}`;
}
