/** The JSON envelope {result, success, errors, messages, result_info}, in this order. */
import type { ObjectReply } from "../objects/object-reply.ts";
import { problem, type Problem } from "../../src/dns/record/problem.ts";

/** The shortest delay that the header can express: an injected fault may have ended by then. */
const retryAfterSeconds = 1;

export function failure(problems: readonly Problem[]): Response {
  const status = problems[0]?.status ?? 500;
  const errors = problems.map(({ code, message, error_chain }) => ({ code, message, error_chain }));
  const body = { result: null, success: false, errors, messages: [] };
  const headers = new Headers(
    status === 429 ? { "retry-after": String(retryAfterSeconds) } : undefined,
  );
  return Response.json(body, { status, headers });
}

export function success(json: string, rest: Readonly<Record<string, unknown>> = {}): Response {
  const tail = JSON.stringify({ success: true, errors: [], messages: [], ...rest }).slice(1);
  const headers = { "content-type": "application/json" };
  return new Response(`{"result":${json},${tail}`, { headers });
}

/** An object does not know the path of the request, which the "no route" problem contains. */
export function respond(reply: ObjectReply, path: string): Response {
  if (reply.ok) {
    const { resultInfo: result_info, timing, messages = [] } = reply;
    return success(reply.json, { messages, result_info, timing });
  }
  const noRoute = problem.noRoute(path);
  return failure(reply.problems.map((found) => (found.code === noRoute.code ? noRoute : found)));
}
