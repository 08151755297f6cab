/** Calls of the record API and of its test controls. */
import type { DnsControlStub } from "./controls.ts";

/** An answer of the record API. */
interface Envelope {
  readonly success: boolean;
  readonly errors: readonly { readonly code: number; readonly message: string }[];
  readonly result: unknown;
}

/**
 * The result of a call.
 *
 * @param path with its root: `/client/v4/zones`, `/ledge/queries`
 * @throws Error with the messages of the API
 */
export async function callDns(
  dns: DnsControlStub,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const response = await dns.fetch(`http://dns${path}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const { success, errors, result } = (await response.json()) as Envelope;
  if (success) return result;
  const messages = errors.map(({ code, message }) => `${message} (${code})`);
  throw new Error(`${method} ${path.replace("/client/v4", "")}: ${messages.join("; ")}`);
}
