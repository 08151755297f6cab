import { zoneObject } from "../objects/environment.ts";
import { readImportForm } from "./body.ts";
import type { Handler } from "./call.ts";
import { respond } from "./envelope.ts";

export const exportZone: Handler = async ({ env, ids, path }) => {
  const reply = await zoneObject(env, ids["zone"]!).exportFile();
  if (!reply.ok) return respond(reply, path);
  const headers = { "content-type": "text/plain; charset=utf-8" };
  return new Response(JSON.parse(reply.json) as string, { headers });
};

export const importZone: Handler = async ({ request, env, ids, path }) => {
  const { text, proxied } = await readImportForm(request);
  return respond(await zoneObject(env, ids["zone"]!).importFile(text, proxied), path);
};
