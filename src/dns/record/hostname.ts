import { isDnsName } from "./record-name.ts";
import { toAsciiName } from "./punycode.ts";

/** An address is made of DNS labels too, yet nobody who writes one as a target means a name. */
const dottedQuad = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/** Lower-case punycode without the final dot, or `null` when the text is no hostname. */
export function normaliseHostname(input: string): string | null {
  let name = toAsciiName(input.trim());
  if (name.endsWith(".")) name = name.slice(0, -1);
  if (name === "" || dottedQuad.test(name)) return null;
  return isDnsName(name.startsWith("*.") ? name.slice(2) : name) ? name : null;
}
