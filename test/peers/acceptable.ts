/**
 * Changes arbitrary records to records that other servers accept: BIND refuses a zone with a NAPTR
 * record whose regular expression is invalid.
 */
export function acceptable(request: Record<string, unknown>): Record<string, unknown> {
  if (request["type"] !== "NAPTR") return request;
  const data = { ...(request["data"] as object), regex: "!^.*$!sip:info@example.org!" };
  return { ...request, data };
}
