/** Files of any size, uploaded in parts. This is the HTTP interface of the page in `public`. */
import { listFiles, routeFile } from "./files.ts";
import { problem } from "./problem.ts";
import { routeUpload } from "./uploads.ts";

export default {
  async fetch(request, env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const [, area] = pathname.split("/");
    const path = pathname.slice(`/${area}/`.length);
    if (area === "uploads") return routeUpload(env, path, request);
    if (area !== "files") return problem(404, "Uploads are at /uploads, files at /files.");
    if (path === "") {
      if (request.method !== "GET")
        return problem(405, "Use GET to list the files.", { allow: "GET" });
      return listFiles(env.FILES, searchParams.get("cursor"));
    }
    try {
      return await routeFile(env.FILES, decodeURIComponent(path), request);
    } catch (error) {
      if (error instanceof URIError)
        return problem(400, "The address is not percent-encoded UTF-8.");
      throw error;
    }
  },
} satisfies ExportedHandler<Env>;
