/**
 * The comment at the end of a record's line: the comment of the record, then `cf_tags=` and the
 * tags. Reserved tags with the prefix cf- hold `proxied` and the settings, which DNS data cannot
 * express.
 */
import type { RecordDraft, RecordSettings } from "../record/zone-record.ts";
import { recordType } from "../record/types.ts";

const tagsMark = "cf_tags=";
const proxiedTag = "cf-proxied";
const routingTag = "cf-private-routing";
/** Deviation: an export of the deployed service omits the settings and loses them. */
const settingTags: ReadonlyMap<string, keyof RecordSettings> = new Map([
  ["cf-flatten-cname", "flatten_cname"],
  ["cf-ipv4-only", "ipv4_only"],
  ["cf-ipv6-only", "ipv6_only"],
]);

export function composeLineComment(record: RecordDraft): string {
  const tags = [...record.tags];
  if (recordType(record.type).proxiable) tags.push(`${proxiedTag}:${record.proxied}`);
  for (const [tag, setting] of settingTags) {
    if (record.settings[setting]) tags.push(`${tag}:true`);
  }
  if (record.privateRouting) tags.push(`${routingTag}:true`);
  const comment = record.comment ?? "";
  // A comment that contains the mark needs a second mark: the parser splits at the last one.
  if (tags.length === 0 && !comment.includes(tagsMark)) return comment;
  return [comment, tagsMark + tags.join(",")].filter((part) => part !== "").join(" ");
}

/** `proxied` is `null` when the line does not specify it. */
export function parseLineComment(text: string | null): Pick<
  RecordDraft,
  "comment" | "tags" | "settings" | "privateRouting"
> & {
  readonly proxied: boolean | null;
} {
  const mark = text?.lastIndexOf(tagsMark) ?? -1;
  const comment = (mark < 0 ? (text ?? "") : text!.slice(0, mark)).trim();
  const words = mark < 0 ? [] : text!.slice(mark + tagsMark.length).split(",");
  const tags: string[] = [];
  const settings: Record<string, boolean> = {};
  let proxied: boolean | null = null;
  let privateRouting = false;
  for (const word of words.map((tag) => tag.trim()).filter((tag) => tag !== "")) {
    const [name, value] = word.split(":");
    const setting = settingTags.get(name!.toLowerCase());
    if (name!.toLowerCase() === proxiedTag) proxied = value === "true";
    else if (name!.toLowerCase() === routingTag) privateRouting = value === "true";
    else if (setting !== undefined) settings[setting] = value === "true";
    else tags.push(word);
  }
  return { comment: comment === "" ? null : comment, tags, proxied, settings, privateRouting };
}
