/** The parts of an HTTP request that a signature covers, as the client has sent them. */
export interface SignedRequest {
  readonly method: string;
  /** Neither decoded nor normalised: `..`, `//` and `%2F` belong to keys. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** In the order of the request. A name can occur more than once. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** All values of a header, joined as the signature joins them; `null` when there is none. */
export function headerOf({ headers }: SignedRequest, name: string): string | null {
  const values = headers
    .filter(([each]) => each.toLowerCase() === name)
    .map(([, value]) => value.trim().replace(/ +/g, " "));
  return values.length === 0 ? null : values.join(",");
}
