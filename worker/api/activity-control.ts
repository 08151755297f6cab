/**
 * Queries and calls for a process that follows them (the explorer):
 *
 *     /ledge/activity   GET ?since=MILLISECONDS&after=ID lists the queries that were answered since then,
 *                       and the calls after that one; DELETE ends the following
 *
 * The first GET starts the logs. The log of queries of a test (`/ledge/queries`) is independent.
 */
import { problem, ZoneError } from "../../src/dns/record/problem.ts";
import type { Env } from "../objects/environment.ts";
import { followQueries, unfollowQueries } from "../objects/query-observation.ts";
import { requireControl, type Access } from "./access.ts";
import { callLog } from "./call-log.ts";
import { success } from "./envelope.ts";

export const activityPath = "/ledge/activity";

export async function controlActivity(
  { method }: Request,
  { searchParams }: URL,
  access: Access,
  env: Env,
): Promise<Response> {
  requireControl(access, method);
  if (method === "DELETE") {
    callLog.end();
    await unfollowQueries(env);
    return success("null");
  }
  if (method !== "GET") throw new ZoneError([problem.methodNotAllowed(method)]);
  const after = searchParams.get("after");
  const { last, calls } = callLog.after(after === null ? null : Number(after));
  const queries = await followQueries(env, Number(searchParams.get("since")));
  return success(JSON.stringify({ last, calls, queries }));
}
