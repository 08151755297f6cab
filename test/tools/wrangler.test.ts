/** Stock wrangler runs a project with an unsafe binding that names the plugin. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { unstable_startWorker as startWorker } from "wrangler";
import { blobFiles, temporaryFolder } from "../support/store.ts";
import { plugin } from "../support/worker.ts";

describe("wrangler dev", () => {
  it("provides a bucket that is stored under the persist path", async () => {
    const project = temporaryFolder();
    mkdirSync(join(project, "src"));
    symlinkSync(
      fileURLToPath(new URL("../../node_modules", import.meta.url)),
      join(project, "node_modules"),
    );
    writeFileSync(
      join(project, "src/index.ts"),
      `export default {
        async fetch(request: Request, env: { PHOTOS: any }): Promise<Response> {
          if (request.method === "PUT") {
            return Response.json(await env.PHOTOS.put("photo", request.body));
          }
          const object = await env.PHOTOS.get("photo");
          const headers = new Headers({ etag: object.httpEtag });
          object.writeHttpMetadata(headers);
          return new Response(object.body, { headers });
        },
      };`,
    );
    writeFileSync(
      join(project, "wrangler.jsonc"),
      JSON.stringify({
        name: "photos",
        main: "src/index.ts",
        compatibility_date: "2026-08-01",
        compatibility_flags: ["store_list_honor_include"],
        unsafe: {
          bindings: [
            {
              name: "PHOTOS",
              type: "store_bucket",
              dev: { plugin, options: { bucket_name: "photos" } },
            },
          ],
        },
      }),
    );
    const state = join(project, "state");
    const worker = await startWorker({
      config: join(project, "wrangler.jsonc"),
      dev: { persist: state, server: { port: 0 }, inspector: false, logLevel: "error" },
    });
    onTestFinished(() => worker.dispose());
    await worker.ready;

    const photo = Buffer.alloc(300_000, "photo");
    const url = await worker.url;
    const put = await fetch(url, { method: "PUT", body: photo });
    const { etag, size } = (await put.json()) as { etag: string; size: number };
    expect(size).toBe(photo.length);

    const got = await fetch(url);
    expect(got.headers.get("etag")).toBe(`"${etag}"`);
    expect(Buffer.from(await got.arrayBuffer())).toEqual(photo);
    expect(blobFiles(join(state, "v3"))).toHaveLength(1);
  });
});
