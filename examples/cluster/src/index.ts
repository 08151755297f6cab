/**
 * Notes in a bucket, by HTTP. Every runtime has the same bucket, so a note that one runtime has
 * acknowledged is read by all.
 */
export default {
  async fetch(request, env): Promise<Response> {
    const response = await answer(request, env.NOTES).catch(failure);
    response.headers.set("x-runtime", env.RUNTIME);
    return response;
  },
} satisfies ExportedHandler<Env>;

async function answer(request: Request, notes: StoreBucket): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  // The load balancer asks for this path. It says that the runtime answers, and uses no bucket: if the
  // cluster is away, no other runtime would be better.
  if (pathname === "/health") return new Response("ok\n");
  if (pathname === "/notes" && request.method === "GET") return list(notes, searchParams);
  const key = /^\/notes\/(.+)$/.exec(pathname)?.[1];
  if (key === undefined) return problem(404, "There are notes at /notes/KEY.");
  return note(request, notes, decodeURIComponent(key));
}

async function note(request: Request, notes: StoreBucket, key: string): Promise<Response> {
  switch (request.method) {
    case "PUT":
      return put(request, notes, key);
    case "GET": {
      const found = await notes.get(key);
      if (found === null) return problem(404, `There is no note ${key}.`);
      return new Response(found.body, { headers: { etag: found.httpEtag } });
    }
    case "DELETE":
      await notes.delete(key);
      return new Response(null, { status: 204 });
    default:
      return problem(405, "Notes have GET, PUT and DELETE.");
  }
}

/** `If-Match` and `If-None-Match: *` make a write conditional: of two such writes, one succeeds. */
async function put(request: Request, notes: StoreBucket, key: string): Promise<Response> {
  const stored = await notes.put(key, request.body, { onlyIf: request.headers });
  if (stored === null) return problem(412, `The note ${key} has changed.`);
  return Response.json({ key, size: stored.size }, { headers: { etag: stored.httpEtag } });
}

async function list(notes: StoreBucket, query: URLSearchParams): Promise<Response> {
  const cursor = query.get("cursor");
  const page = await notes.list({
    prefix: query.get("prefix") ?? "",
    ...(cursor !== null && { cursor }),
  });
  return Response.json({
    keys: page.objects.map(({ key }) => key),
    ...(page.truncated && { cursor: page.cursor }),
  });
}

/** The text names the cluster and the reason: it is for the log, and for the people of the service. */
function failure(error: unknown): Response {
  const { message } = error as Error;
  console.error(message);
  return problem(503, message);
}

function problem(status: number, text: string): Response {
  return Response.json({ problem: text }, { status });
}
