/**
 * The script of all fault tests, as text: the same code runs in `ledge dev`, in wrangler and in
 * plain Miniflare. The path is the key; the method and the query choose the operation.
 */
export const faultScript = `
const readBody = async (request) => new Uint8Array(await request.arrayBuffer());

async function put(request, bucket, key, query) {
  const onlyIf = query.has("absent")
    ? { etagDoesNotMatch: "*" }
    : query.has("match") ? { etagMatches: query.get("match") } : undefined;
  const object = await bucket.put(key, await readBody(request), { onlyIf });
  return Response.json({ etag: object?.etag ?? null });
}

async function upload(request, bucket, key, query) {
  const body = await readBody(request);
  const upload = await bucket.createMultipartUpload(key);
  const part = await upload.uploadPart(1, body);
  if (query.has("abort")) {
    await upload.abort();
    return Response.json({ etag: null });
  }
  const { etag } = await upload.complete([part]);
  return Response.json({ etag });
}

async function get(bucket, key, query) {
  const etag = query.get("unless");
  const object = await bucket.get(key, etag === null ? {} : { onlyIf: { etagDoesNotMatch: etag } });
  if (object === null) return new Response("absent", { status: 404 });
  // A body that the condition leaves out does not exist.
  return new Response(object.body ?? "", {
    headers: { "x-etag": object.etag, "x-condition": object.body ? "holds" : "fails" },
  });
}

async function list(bucket) {
  const objects = [];
  let cursor;
  do {
    const page = await bucket.list({ cursor });
    objects.push(...page.objects.map(({ key, etag, size }) => ({ key, etag, size })));
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
  return Response.json(objects);
}

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const key = decodeURIComponent(url.pathname.slice(1));
    const query = url.searchParams;
    try {
      if (query.has("endless")) for (;;);
      if (query.has("ready")) return new Response("ready");
      if (query.has("list")) return await list(env.BUCKET);
      if (query.has("collect")) return Response.json(await env.CONTROL.collectGarbage("photos"));
      if (query.has("upload")) return await upload(request, env.BUCKET, key, query);
      if (request.method === "PUT") return await put(request, env.BUCKET, key, query);
      if (request.method === "DELETE") {
        await env.BUCKET.delete(key);
        return Response.json({ etag: null });
      }
      return await get(env.BUCKET, key, query);
    } catch (error) {
      return new Response(String(error?.stack ?? error), { status: 500 });
    }
  },
};
`;
