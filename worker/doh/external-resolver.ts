/** The runtime cannot ask a resolver; the listeners' process can. */
import type { Env } from "../objects/environment.ts";
import {
  externalPath,
  listenersOrigin,
  secretHeader,
} from "../../src/dns/replication/listener-protocol.ts";
import type { ExternalResult } from "../../src/dns/answer/external-addresses.ts";
import type { ResolveExternal } from "../../src/dns/answer/external-resolution.ts";

/** Without listeners names elsewhere stay unknown, and what depends on them fails. */
export function askListeners({ LISTENERS, LISTENERS_SECRET = "" }: Env): ResolveExternal {
  return async (question) => {
    if (LISTENERS === undefined) return "failed";
    try {
      const answer = await LISTENERS.fetch(listenersOrigin + externalPath, {
        method: "POST",
        headers: { [secretHeader]: LISTENERS_SECRET },
        body: JSON.stringify(question),
      });
      return answer.ok ? ((await answer.json()) as ExternalResult) : "failed";
    } catch {
      return "failed";
    }
  };
}
