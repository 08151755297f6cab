import { decodeBase64 } from "../../wire/base64.ts";
import { checkValues, parseTagList, wordsPattern } from "./tag-list.ts";

/** RFC 6376 section 3.6.1. */
const allowed = new Map([
  ["k", /^(?:rsa|ed25519)$/],
  ["h", wordsPattern],
  ["s", /^(?:\*|[a-z0-9-]+)(?:\s*:\s*(?:\*|[a-z0-9-]+))*$/i],
  ["t", wordsPattern],
]);

/** DKIM keys have the name <selector>._domainkey below a domain. */
export function isDkimName(owner: string): boolean {
  return /^[^.]+\.(?:[^.]+\.)*_domainkey\./.test(owner);
}

/** Returns the first error of a DKIM key, or `null`. */
export function checkDkim(text: string): string | null {
  const tags = parseTagList(text);
  if (typeof tags === "string") return tags;
  const version = tags.get("v");
  if (version !== undefined && version !== "DKIM1") return "v= must be DKIM1";
  if (version !== undefined && tags.keys().next().value !== "v") return "v= must come first";
  const key = tags.get("p");
  if (key === undefined) return "p= is missing (an empty p= revokes the key)";
  // Keys may contain blanks (RFC 6376 section 3.2) and are often published without padding.
  const digits = key.replaceAll(/\s/g, "").replace(/=+$/, "");
  if (decodeBase64(digits + "=".repeat((4 - (digits.length % 4)) % 4)) === null) {
    return "p= is not base64";
  }
  return checkValues(tags, allowed);
}
