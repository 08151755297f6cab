/**
 * Records that other servers take as well: BIND reads the regular expression of a NAPTR record, and
 * refuses a zone with one that is none.
 */
export function acceptable(request: Record<string, unknown>): Record<string, unknown> {
  if (request["type"] !== "NAPTR") return request;
  const data = { ...(request["data"] as object), regex: "!^.*$!sip:info@example.org!" };
  return { ...request, data };
}
