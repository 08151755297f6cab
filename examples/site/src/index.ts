/** A static site, served from a bucket. */
import { cacheControlOf } from "./cache-control.ts";
import { contentTypeOf } from "./content-type.ts";
import { acceptedEncodings, isCompressible, variantKey, type Encoding } from "./encoding.ts";
import { serveObject } from "../../http/serve-object.ts";
import { pageKeys, withSlash } from "./page-key.ts";

export default {
  async fetch(request, env): Promise<Response> {
    if (request.method !== "GET" && request.method !== "HEAD") {
      return text(405, "Use GET or HEAD.", { allow: "GET, HEAD" });
    }
    const keys = pageKeys(new URL(request.url).pathname);
    if (keys === null) return text(400, "The address is not percent-encoded UTF-8.");
    // The limit of a key is 1024 bytes.
    if (new TextEncoder().encode(keys.key).length > 1024) return notFound(env.SITE, request);

    const page = await servePage(env.SITE, keys.key, request);
    if (page !== null) return page;
    if (keys.folderIndex !== null && (await exists(env.SITE, keys.folderIndex))) {
      return new Response(null, { status: 308, headers: { location: withSlash(request.url) } });
    }
    return notFound(env.SITE, request);
  },
} satisfies ExportedHandler<Env>;

/** The page in the best encoding that the client accepts, or `null` when there is no page. */
async function servePage(bucket: StoreBucket, key: string, request: Request) {
  for (const encoding of encodingsFor(key, request)) {
    const variant = await serve(bucket, key, encoding, request);
    if (variant !== null) return variant;
  }
  return serve(bucket, key, null, request);
}

function encodingsFor(key: string, { cf, headers }: Request): Encoding[] {
  // The runtime replaces the header, and keeps the client's header in `cf`.
  const accepted = (cf?.["clientAcceptEncoding"] as string) ?? headers.get("accept-encoding");
  return isCompressible(contentTypeOf(key)) ? acceptedEncodings(accepted) : [];
}

function serve(bucket: StoreBucket, key: string, encoding: Encoding | null, request: Request) {
  const variant = encoding === null ? key : variantKey(key, encoding);
  return serveObject(bucket, variant, request, ({ httpMetadata }, headers) => {
    // Stored headers take precedence, except the type of a variant: it is that of a compressed file.
    if (encoding !== null || httpMetadata?.contentType === undefined) {
      headers.set("content-type", contentTypeOf(key));
    }
    if (encoding !== null) headers.set("content-encoding", encoding);
    if (isCompressible(contentTypeOf(key))) headers.set("vary", "accept-encoding");
    if (httpMetadata?.cacheControl === undefined) headers.set("cache-control", cacheControlOf(key));
    headers.set("x-content-type-options", "nosniff");
  });
}

async function exists(bucket: StoreBucket, key: string): Promise<boolean> {
  return new TextEncoder().encode(key).length <= 1024 && (await bucket.head(key)) !== null;
}

/** The 404 page of the site, always whole and never a 304. */
async function notFound(bucket: StoreBucket, request: Request): Promise<Response> {
  const page = await bucket.get("404.html");
  if (page === null) {
    const empty = (await bucket.list({ limit: 1 })).objects.length === 0;
    const advice = "The bucket is empty. Store the site in it: npm run load";
    return text(404, empty ? advice : "There is no such page.");
  }
  const headers = { "content-type": contentTypeOf("404.html"), "cache-control": "no-cache" };
  const body = request.method === "HEAD" ? null : page.body;
  return new Response(body, { status: 404, headers });
}

function text(status: number, message: string, headers?: Record<string, string>): Response {
  return new Response(`${message}\n`, {
    status,
    headers: { "content-type": "text/plain", ...headers },
  });
}
