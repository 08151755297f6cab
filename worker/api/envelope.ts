/** The JSON envelope {result, success, errors, messages, result_info}, in this order. */
import type { ObjectReply } from "../objects/object-reply.ts";
import { problem, type Problem } from "../../src/dns/record/problem.ts";

/** The shortest delay that the header can express: an injected fault may have ended by then. */
const retryAfterSeconds = 1;

function describeProblem({ code, message, error_chain }: Problem): Record<string, unknown> {
  return error_chain === undefined ? { code, message } : { code, message, error_chain };
}

export function failure(problems: readonly Problem[]): Response {
  const status = problems[0]?.status ?? 500;
  const body = {
    result: null,
    success: false,
    errors: problems.map(describeProblem),
    messages: [],
  };
  const headers = status === 429 ? { "retry-after": String(retryAfterSeconds) } : {};
  return Response.json(body, { status, headers });
}

export function success(json: string, rest: Readonly<Record<string, unknown>> = {}): Response {
  const { messages = [], ...more } = rest;
  const tail = Object.entries(more).map(([key, value]) => `,"${key}":${JSON.stringify(value)}`);
  const body = `{"result":${json},"success":true,"errors":[],"messages":${JSON.stringify(messages)}${tail.join("")}}`;
  return new Response(body, { headers: { "content-type": "application/json" } });
}

/** An object does not know the path of the request, which the "no route" problem contains. */
export function respond(reply: ObjectReply, path: string): Response {
  if (reply.ok) {
    const { resultInfo: result_info, timing } = reply;
    return success(reply.json, {
      ...(result_info === undefined ? {} : { result_info }),
      ...(timing === undefined ? {} : { timing }),
    });
  }
  const noRoute = problem.noRoute(path);
  return failure(reply.problems.map((found) => (found.code === noRoute.code ? noRoute : found)));
}
