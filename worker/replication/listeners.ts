/** Requests of the worker to the listeners' process (`src/dns/replication/listener-protocol.ts`). */
import type { ExternalResult } from "../../src/dns/answer/external-addresses.ts";
import type { ResolveExternal } from "../../src/dns/answer/external-resolution.ts";
import {
  listenersOrigin,
  externalPath,
  secretHeader,
} from "../../src/dns/replication/listener-protocol.ts";
import type { ListenersEnv } from "../objects/environment.ts";

export function postToListeners(
  listeners: Fetcher,
  { LISTENERS_SECRET = "" }: ListenersEnv,
  { path, body, signal }: { path: string; body: unknown; signal?: AbortSignal },
): Promise<Response> {
  return listeners.fetch(listenersOrigin + path, {
    method: "POST",
    headers: { [secretHeader]: LISTENERS_SECRET },
    body: JSON.stringify(body),
    ...(signal !== undefined && { signal }),
  });
}

/**
 * workerd cannot query a resolver; the listeners' process can. Without listeners every external
 * name fails, and so do the answers that depend on it.
 */
export function resolveByListeners(env: ListenersEnv): ResolveExternal {
  return async (question) => {
    if (env.LISTENERS === undefined) return "failed";
    try {
      const request = { path: externalPath, body: question };
      const answer = await postToListeners(env.LISTENERS, env, request);
      return answer.ok ? ((await answer.json()) as ExternalResult) : "failed";
    } catch {
      return "failed";
    }
  };
}
