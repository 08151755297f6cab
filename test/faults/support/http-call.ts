/**
 * HTTP calls with a connection each. workerd closes a connection that is idle for five seconds, also
 * in the moment in which a client sends the next request; so a kept connection would make calls fail
 * without a fault.
 */
import { request } from "node:http";
import { buffer } from "node:stream/consumers";

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Longer than a client of an owner waits for the next owner. */
const callMilliseconds = 90_000;

/** @throws when no whole answer arrives */
export function callHttp(
  url: string,
  { method = "GET", body }: { method?: string; body?: Uint8Array } = {},
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method,
      agent: false,
      signal: AbortSignal.timeout(callMilliseconds),
      headers: { "content-length": body?.length ?? 0 },
    });
    outgoing.once("error", reject);
    outgoing.once("response", (response) => {
      buffer(response).then(
        (read) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: read }),
        reject,
      );
    });
    outgoing.end(body);
  });
}

/** @throws when the status is not 200; a 404 is an answer, too */
export async function callScript(
  url: string,
  options: { method?: string; body?: Uint8Array } = {},
): Promise<HttpAnswer> {
  const answer = await callHttp(url, options);
  if (answer.status === 200 || answer.status === 404) return answer;
  throw new Error(`${options.method ?? "GET"} ${url}: ${answer.status} ${answer.body.toString()}`);
}
