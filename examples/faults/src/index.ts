import { load, save } from "./careful.ts";

export default {
  async fetch(request: Request, env: { PHOTOS: StoreBucket }): Promise<Response> {
    const key = new URL(request.url).pathname.slice(1);
    if (request.method === "PUT") {
      await save(env.PHOTOS, key, await request.text());
      return new Response(null, { status: 201 });
    }
    const photo = await load(env.PHOTOS, key);
    return new Response(photo, { status: photo === null ? 404 : 200 });
  },
};
