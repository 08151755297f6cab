import { storeBindings } from "ledge";
import { Miniflare } from "miniflare";

const script = `export default {
  async fetch(request, env) {
    await env.PHOTOS.put("cat.txt", "meow", { httpMetadata: { contentType: "text/plain" } });
    const cat = await env.PHOTOS.get("cat.txt", { range: { suffix: 3 } });
    return new Response(cat.key + ", " + cat.size + " bytes, ends in " + (await cat.text()));
  },
};`;

const miniflare = new Miniflare({
  resourcePersistencePath: ".ledge",
  workers: [
    {
      config: {
        name: "photos",
        compatibilityDate: "2026-08-01",
        manifest: {
          mainModule: "index.js",
          modules: { "index.js": { type: "esm", contents: script } },
        },
        env: storeBindings({ PHOTOS: { bucket_name: "photos" } }),
      },
    },
  ],
});

const response = await miniflare.dispatchFetch("http://localhost/");
console.log(await response.text());
await miniflare.dispose();
