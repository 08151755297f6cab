/** `base/host-rule.ts` for requests that arrive on a port. */
import {
  corsHeaders,
  describeRefusal,
  refuseRequest,
  type HostRule,
  type RequestHead,
} from "../../src/base/host-rule.ts";
import { drainBody } from "./body.ts";

const keys = { hosts: "api_hosts of [dns]", origins: "api_origins of [dns]" };

/** Calls `serve` for a request that the rule accepts, and `refuse` with a sentence for others. */
export async function withHostRule(
  request: Request,
  rule: HostRule,
  { serve, refuse }: { serve: () => Promise<Response>; refuse: (reason: string) => Response },
): Promise<Response> {
  const { method, headers } = request;
  const head: RequestHead = {
    method,
    host: headers.get("host"),
    origin: headers.get("origin"),
    requestedMethod: headers.get("access-control-request-method"),
  };
  const refusal = refuseRequest(head, rule);
  if (refusal !== null) {
    await drainBody(request);
    return refuse(describeRefusal(refusal, keys));
  }
  const added = Object.entries(corsHeaders(head, rule));
  if (added.length === 0) return serve();
  const isPreflight = method === "OPTIONS" && head.requestedMethod !== null;
  const response = isPreflight ? new Response(null, { status: 204 }) : await serve();
  const granted = new Response(response.body, response);
  for (const [name, value] of added) granted.headers.set(name, value);
  return granted;
}
