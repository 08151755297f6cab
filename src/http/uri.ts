/**
 * How AWS encodes paths and queries, in signatures and in lists: RFC 3986.
 *
 * Functions that decode throw a URIError for text that is not UTF-8 in percent-encoding.
 */

/** Encodes everything but unreserved characters. `encodeURIComponent` leaves `!'()*`. */
export function encodeComponent(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * The path of a request as the signature has it. Clients leave some characters in their path that
 * they encode in what they sign, such as `+` and `(`. A `%2F` stays, because it belongs to a segment.
 */
export function canonicalPath(path: string): string {
  if (/^[\w./~-]*$/.test(path)) return path;
  return path
    .split("/")
    .map((segment) => encodeComponent(decodeURIComponent(segment)))
    .join("/");
}

/** The parameters of a query in the order of the query, decoded. `+` is a space, as in a form. */
export function parseQuery(query: string): [name: string, value: string][] {
  return query
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const separator = pair.indexOf("=");
      const name = separator === -1 ? pair : pair.slice(0, separator);
      const value = separator === -1 ? "" : pair.slice(separator + 1);
      return [decodeFormText(name), decodeFormText(value)];
    });
}

function decodeFormText(text: string): string {
  return decodeURIComponent(text.replaceAll("+", " "));
}

/** The parameters as the signature has them: encoded, and sorted by their encoded form. */
export function canonicalQuery(parameters: readonly (readonly [string, string])[]): string {
  return (
    parameters
      // NUL, which encoded text does not have, sorts a name before the names that begin with it.
      .map((pair) => pair.map(encodeComponent).join("\0"))
      .toSorted()
      .join("&")
      .replaceAll("\0", "=")
  );
}
