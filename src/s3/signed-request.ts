/** The parts of an HTTP request that a signature covers, as the client has sent them. */
export interface SignedRequest {
  readonly method: string;
  /** Neither decoded nor normalised: `..`, `//` and `%2F` belong to keys. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** By their names in lower case. The values of a name that occurs twice are joined with a comma. */
  readonly headers: ReadonlyMap<string, string>;
}
