/** Requests of the worker to the listeners' process (`src/dns/replication/listener-protocol.ts`). */
import type { ExternalResult, ResolveExternal } from "../../src/dns/answer/external-addresses.ts";
import type { QueryCount } from "../../src/dns/rules/query-report.ts";
import type { Observation } from "../../src/dns/fault/observed-queries.ts";
import type { LoggedQuery } from "../../src/dns/fault/query-log.ts";
import {
  listenersOrigin,
  externalPath,
  logPath,
  observationPath,
  queriesPath,
  secretHeader,
} from "../../src/dns/replication/listener-protocol.ts";

export interface ListenersEnv {
  /** The server in the listeners' process. Absent when DNS is served by HTTP only. */
  readonly LISTENERS?: Fetcher;
  readonly LISTENERS_SECRET?: string;
}

/** To be called only when there are listeners. */
export function postToListeners(
  { LISTENERS, LISTENERS_SECRET = "" }: ListenersEnv,
  path: string,
  body: unknown,
  signal: AbortSignal | null = null,
): Promise<Response> {
  const headers = { [secretHeader]: LISTENERS_SECRET };
  const init = { method: "POST", headers, body: JSON.stringify(body), signal };
  return LISTENERS!.fetch(listenersOrigin + path, init);
}

/**
 * workerd cannot query a resolver; the listeners' process can. Without listeners every external
 * name fails, and so do the answers that depend on it.
 */
export function resolveByListeners(env: ListenersEnv): ResolveExternal {
  return async (question) => {
    if (env.LISTENERS === undefined) return "failed";
    try {
      const answer = await postToListeners(env, externalPath, question);
      return answer.ok ? ((await answer.json()) as ExternalResult) : "failed";
    } catch {
      return "failed";
    }
  };
}

/** The numbers of queries that the listeners have answered; none without listeners. */
export async function countListenersQueries(env: ListenersEnv): Promise<readonly QueryCount[]> {
  if (env.LISTENERS === undefined) return [];
  const response = await postToListeners(env, queriesPath, null);
  return (await response.json()) as readonly QueryCount[];
}

/** Resolves when every listener thread observes its queries so. */
export async function observeByListeners(
  env: ListenersEnv,
  observation: Observation,
): Promise<void> {
  if (env.LISTENERS === undefined) return;
  const { status } = await postToListeners(env, observationPath, observation);
  if (status !== 204) throw new Error(`DNS listeners did not take faults: status ${status}`);
}

/** The logged queries of the listeners since a time; none without listeners. */
export async function logOfListeners(
  env: ListenersEnv,
  sinceMilliseconds: number,
): Promise<readonly LoggedQuery[]> {
  if (env.LISTENERS === undefined) return [];
  const response = await postToListeners(env, logPath, sinceMilliseconds);
  return (await response.json()) as readonly LoggedQuery[];
}
