/**
 * What the comment of a record's line carries: the record's own comment, then `cf_tags=` with its
 * tags. Tags that start with cf- are reserved for what a zone file has no other place for.
 */
import type { RecordDraft, RecordSettings } from "../record/zone-record.ts";
import { recordType } from "../record/registry.ts";

const tagsMark = "cf_tags=";
const proxiedTag = "cf-proxied";
/** Deviation: the deployed service's export says nothing of settings, so that they would be lost. */
const settingTags: ReadonlyMap<string, keyof RecordSettings> = new Map([
  ["cf-flatten-cname", "flatten_cname"],
  ["cf-ipv4-only", "ipv4_only"],
  ["cf-ipv6-only", "ipv6_only"],
]);

export interface Note {
  readonly comment: string | null;
  readonly tags: readonly string[];
  readonly proxied: boolean | null;
  readonly settings: RecordSettings;
}

export function composeNote(record: RecordDraft): string {
  const tags = [...record.tags];
  if (recordType(record.type).proxiable) tags.push(`${proxiedTag}:${record.proxied}`);
  for (const [tag, setting] of settingTags) {
    if (record.settings[setting]) tags.push(`${tag}:true`);
  }
  const comment = record.comment ?? "";
  // A comment that holds the mark itself is told apart by a mark after it, empty or not.
  if (tags.length === 0 && !comment.includes(tagsMark)) return comment;
  return [comment, tagsMark + tags.join(",")].filter((part) => part !== "").join(" ");
}

export function parseNote(text: string | null): Note {
  const mark = text?.lastIndexOf(tagsMark) ?? -1;
  const comment = (mark < 0 ? (text ?? "") : text!.slice(0, mark)).trim();
  const words = mark < 0 ? [] : text!.slice(mark + tagsMark.length).split(",");
  const tags: string[] = [];
  const settings: Record<string, boolean> = {};
  let proxied: boolean | null = null;
  for (const word of words.map((tag) => tag.trim()).filter((tag) => tag !== "")) {
    const [name, value] = word.split(":");
    const setting = settingTags.get(name!.toLowerCase());
    if (name!.toLowerCase() === proxiedTag) proxied = value === "true";
    else if (setting !== undefined) settings[setting] = value === "true";
    else tags.push(word);
  }
  return { comment: comment === "" ? null : comment, tags, proxied, settings };
}
