/**
 * The global types, used as scripts use them. `tsc` is the test: each line under
 * `@ts-expect-error` must be an error, and no other line may be an error.
 */
import "ledge/types";

interface Env {
  PHOTOS: StoreBucket;
}

type Equal<Left, Right> =
  (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false;
function expectType<_Assertion extends true>(): void {}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { PHOTOS } = env;

    const head = await PHOTOS.head("key");
    expectType<Equal<typeof head, StoreObject | null>>();

    // Without a condition, get() returns an object with a body, or null.
    const object = await PHOTOS.get("key");
    if (object === null) return new Response(null, { status: 404 });
    expectType<Equal<typeof object.size, number>>();
    const data = await object.json<{ name: string }>();
    expectType<Equal<typeof data, { name: string }>>();

    // With a condition, the object may have no body.
    const conditional = await PHOTOS.get("key", {
      onlyIf: request.headers,
      range: request.headers,
    });
    // @ts-expect-error there may be no body
    void conditional?.body;
    if (conditional !== null && "body" in conditional) {
      const headers = new Headers();
      conditional.writeHttpMetadata(headers);
      headers.set("etag", conditional.httpEtag);
      return new Response(conditional.body, { headers });
    }

    // A put() without a condition always stores; a put() with a condition may return null.
    const stored = await PHOTOS.put("key", request.body, {
      httpMetadata: request.headers,
      customMetadata: { owner: "me" },
      sha256: new ArrayBuffer(32),
      storageClass: "InfrequentAccess",
    });
    expectType<Equal<typeof stored, StoreObject>>();
    const maybe = await PHOTOS.put("key", "text", { onlyIf: { etagDoesNotMatch: "*" } });
    expectType<Equal<typeof maybe, StoreObject | null>>();
    await PHOTOS.put("key", new Blob(["x"]));
    await PHOTOS.put("key", new Uint16Array(1));
    await PHOTOS.put("key", null);
    // @ts-expect-error a number is not a value
    await PHOTOS.put("key", 1);
    // @ts-expect-error the class is one of two
    await PHOTOS.put("key", "x", { storageClass: "Cold" });

    await PHOTOS.get("key", { range: { offset: 1 } });
    await PHOTOS.get("key", { range: { length: 1 } });
    await PHOTOS.get("key", { range: { suffix: 1 }, httpMetadata: { contentType: "text/plain" } });

    // The cursor exists exactly when the page is truncated.
    let cursor: string | undefined;
    do {
      const page: StoreObjects = await PHOTOS.list({
        ...(cursor !== undefined && { cursor }),
        include: ["httpMetadata", "customMetadata"],
      });
      // @ts-expect-error `truncated` has not been checked
      void page.cursor;
      cursor = page.truncated ? page.cursor : undefined;
    } while (cursor !== undefined);
    // @ts-expect-error there are two kinds of metadata
    await PHOTOS.list({ include: ["everything"] });

    const upload: StoreMultipartUpload = await PHOTOS.createMultipartUpload("key");
    const resumed = PHOTOS.resumeMultipartUpload(upload.key, upload.uploadId);
    expectType<Equal<typeof resumed, StoreMultipartUpload>>();
    const parts: StoreUploadedPart[] = [await resumed.uploadPart(1, "x")];
    // @ts-expect-error a part needs content
    await resumed.uploadPart(2, null);
    await resumed.complete(parts);
    await PHOTOS.delete(["a", "b"]);

    expectType<Equal<StoreChecksums["md5"], ArrayBuffer | undefined>>();
    const json: StoreStringChecksums = stored.checksums.toJSON();
    return Response.json(json);
  },
} satisfies ExportedHandler<Env>;
