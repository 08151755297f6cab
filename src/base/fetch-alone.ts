export interface FetchAloneOptions extends Omit<RequestInit, "headers"> {
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * As `fetch()`, with a connection for this request alone. workerd closes idle connections, and a
 * request that meets the end of its connection is lost.
 */
export function fetchAlone(
  url: string | URL,
  { headers, ...init }: FetchAloneOptions,
): Promise<Response> {
  return fetch(url, { ...init, headers: { ...headers, connection: "close" } });
}
