import { checkValues, parseTagList, wordsPattern } from "./tag-list.ts";

const policyPattern = /^(?:none|quarantine|reject)$/i;
const alignmentPattern = /^[rs]$/i;
const reportUris =
  /^\s*[a-z][a-z0-9+.-]*:[^\s,!]+(?:![0-9]+[kmgt]?)?(?:\s*,\s*[a-z][a-z0-9+.-]*:[^\s,!]+(?:![0-9]+[kmgt]?)?)*\s*$/i;

/** RFC 7489 section 6.3. */
const allowed = new Map([
  ["p", policyPattern],
  ["sp", policyPattern],
  ["np", policyPattern],
  ["adkim", alignmentPattern],
  ["aspf", alignmentPattern],
  ["fo", /^[01ds](?:\s*:\s*[01ds])*$/i],
  ["pct", /^(?:100|[1-9]?[0-9])$/],
  ["rf", wordsPattern],
  ["ri", /^[0-9]{1,10}$/],
  ["rua", reportUris],
  ["ruf", reportUris],
]);

/** DMARC policies have the name _dmarc below a domain. */
export function isDmarcName(owner: string): boolean {
  return owner.startsWith("_dmarc.");
}

/** Returns the first error of a DMARC policy, or `null`. */
export function checkDmarc(text: string): string | null {
  const tags = parseTagList(text);
  if (typeof tags === "string") return tags;
  const [first] = tags.keys();
  if (first !== "v" || tags.get("v") !== "DMARC1") return "it must start with v=DMARC1";
  if (!tags.has("p")) return "p= is missing";
  return checkValues(tags, allowed);
}
