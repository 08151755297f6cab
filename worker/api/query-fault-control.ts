/**
 * The test controls of queries:
 *
 *     /ledge/query_faults   GET lists the faults with their counts, POST adds a fault, PUT replaces all
 *                           faults, DELETE removes them; a WebSocket holds faults of its own
 *                           (`held-query-faults.ts`)
 *     /ledge/queries        PUT starts an empty log, GET lists the queries, DELETE ends the log
 *
 * Every server of the zones has the change before the reply.
 */
import {
  QueryFaultError,
  readQueryFault,
  type QueryFault,
} from "../../src/dns/fault/query-fault.ts";
import type { LoggedQuery } from "../../src/dns/fault/observed-queries.ts";
import { problem, ZoneError } from "../../src/dns/record/problem.ts";
import type { Env } from "../objects/environment.ts";
import {
  addQueryFaults,
  listQueryFaults,
  readQueryLog,
  replaceQueryFaults,
  startQueryLog,
  stopQueryLog,
} from "../objects/query-observation.ts";
import { requireControl, type Access } from "./access.ts";
import { readJson } from "./body.ts";
import { success } from "./envelope.ts";
import { serveHeldFaults } from "./held-query-faults.ts";

export const queryFaultPath = "/ledge/query_faults";
export const queryLogPath = "/ledge/queries";

export async function controlQueryFaults(
  request: Request,
  access: Access,
  env: Env,
): Promise<Response> {
  const { method } = request;
  if (request.headers.get("upgrade") === "websocket") {
    requireControl(access, "PUT");
    return serveHeldFaults(env);
  }
  requireControl(access, method);
  if (method === "POST") {
    await addQueryFaults(env, [acceptFault(await readJson(request))]);
  } else if (method === "PUT") {
    const { faults } = await readJson(request);
    if (!Array.isArray(faults)) throw new ZoneError([problem.notAList("faults", "objects")]);
    await replaceQueryFaults(env, faults.map(acceptFault));
  } else if (method === "DELETE") {
    await replaceQueryFaults(env, []);
  } else if (method !== "GET") {
    throw new ZoneError([problem.methodNotAllowed(method)]);
  }
  return success(JSON.stringify(listQueryFaults()));
}

export async function controlQueryLog(
  request: Request,
  access: Access,
  env: Env,
): Promise<Response> {
  const { method } = request;
  requireControl(access, method);
  if (method === "PUT") await startQueryLog(env);
  else if (method === "DELETE") await stopQueryLog(env);
  else if (method === "GET") {
    const queries = await readQueryLog(env);
    if (queries === null) throw new ZoneError([problem.queryLogOff()]);
    return success(JSON.stringify(queries.map(describeQuery)));
  } else throw new ZoneError([problem.methodNotAllowed(method)]);
  return success(JSON.stringify([]));
}

function acceptFault(input: unknown): QueryFault {
  try {
    return readQueryFault(input);
  } catch (error) {
    if (!(error instanceof QueryFaultError)) throw error;
    throw new ZoneError([problem.queryFaultInvalid(error.message)]);
  }
}

function describeQuery(logged: LoggedQuery): Record<string, unknown> {
  const { milliseconds, startedMilliseconds: _started, client: _client, ...query } = logged;
  return { time: new Date(milliseconds).toISOString(), ...query };
}
