/** Rules of records on the page: the request that a form makes, names, orders, and where names lead. */
import type { DnsRecord, LookupReason, RecordTypes } from "../../api/zones-api.ts";
import { recordsPlace, type Place, type RecordSort } from "../location.ts";

/** The TTL "Auto" in requests and answers. */
const ttlAuto = 1;

export function ttlText(ttl: number): string {
  return ttl === ttlAuto ? "auto" : String(ttl);
}

/** Where browsers reach a proxied name; `null` for names that have no single address, and without a dev server. */
export function edgeUrl(name: string, scriptUrl: string | null): string | null {
  if (scriptUrl === null || !/^[a-z0-9._-]+$/.test(name)) return null;
  const { protocol, port } = new URL(scriptUrl);
  return `${protocol}//${name}.localhost:${port}/`;
}

/** What a person has typed. Tags are separated by commas; the TTL may be `auto`. */
type RecordDraft = typeof newDraft;

export const newDraft = {
  type: "A",
  name: "",
  content: "",
  priority: "10",
  ttl: "auto",
  proxied: false,
  comment: "",
  tags: "",
};

export function draftOf(record: DnsRecord): RecordDraft {
  const { type, name, content, priority, ttl, proxied, comment, tags } = record;
  return {
    type,
    name,
    content,
    priority: priority === undefined ? newDraft.priority : String(priority),
    ttl: ttlText(ttl),
    proxied,
    comment: comment ?? "",
    tags: tags.join(", "),
  };
}

/** A text that is no number is sent as it is: the server says what is wrong. */
export function recordRequest(
  draft: RecordDraft,
  type: RecordTypes["types"][number] | undefined,
): Readonly<Record<string, unknown>> {
  const proxied = type?.isProxiable === true && draft.proxied;
  const isAuto = proxied || /^(?:auto)?$/i.test(draft.ttl.trim());
  const tags = draft.tags.split(",").map((tag) => tag.trim());
  return {
    type: draft.type,
    name: draft.name.trim() || "@",
    content: draft.content.trim(),
    ttl: isAuto ? ttlAuto : readNumber(draft.ttl),
    comment: draft.comment,
    tags: tags.filter((tag) => tag !== ""),
    ...(type?.hasPriority === true && { priority: readNumber(draft.priority) }),
    proxied,
  };
}

function readNumber(text: string): number | string {
  const word = text.trim();
  return /^\d+$/.test(word) ? Number(word) : word;
}

/** The order after a click on the head of a column: ascending first, then the other way. */
export function nextSort(sort: RecordSort, column: string): RecordSort {
  return (sort === column ? `-${column}` : column) as RecordSort;
}

/** The labels below the zone, and the zone; a name that is not in the zone is whole. */
export function splitName(name: string, zone: string): readonly [string, string] {
  if (name === zone) return ["", zone];
  return name.endsWith(`.${zone}`) ? [name.slice(0, -zone.length - 1), `.${zone}`] : [name, ""];
}

/**
 * Where the names of an answer lead: to the records of a zone of the project. The rules name the zones that
 * the answer comes from: a chain of aliases may lead from zone to zone.
 */
export function placeFinder(reasons: readonly LookupReason[]): (name: string) => Place | null {
  const zones = reasons
    .filter(({ rule }) => rule === "zone")
    .map(({ name }) => name)
    .toSorted((one, other) => other.length - one.length);
  return (name) => {
    const zone = zones.find((each) => name === each || name.endsWith(`.${each}`));
    if (zone === undefined) return null;
    return recordsPlace(zone, name === zone ? "" : name);
  };
}
