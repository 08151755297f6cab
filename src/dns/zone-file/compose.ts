/** A zone as a zone file, and the comments at the ends of its lines, which an import reads back. */
import { recordType } from "../record/types.ts";
import type { RecordDraft, RecordSettings } from "../record/zone-record.ts";

export interface ZoneFileHead {
  readonly zoneName: string;
  readonly nameServers: readonly string[];
  readonly nsTtlSeconds: number;
  readonly soaTtlSeconds: number;
  readonly soa: string;
  readonly exportedOn: string;
}

/**
 * A zone file cannot have a CNAME at a name with other records. Such a CNAME is written as a comment
 * that an import reads. Deviation: the deployed service writes the CNAME, and other name servers
 * refuse its file.
 */
const flattenedMark = ";; flattened: ";
export const flattenedLines = new RegExp(`^${flattenedMark}`, "gm");

export function composeLine(record: RecordDraft): string {
  const type = recordType(record.type);
  const rdata = type.compose(type.parseContent(record.content, record.priority));
  const comment = composeLineComment(record);
  const line = `${record.name}.\t${record.ttl}\tIN\t${record.type}\t${rdata}`;
  return comment === "" ? line : `${line} ; ${comment}`;
}

/** Groups the records by type, with a heading for each group; TTL 1 means Auto. */
export function composeZoneFile(head: ZoneFileHead, records: readonly RecordDraft[]): string {
  const lines = [
    `;; Domain:     ${head.zoneName}.`,
    `;; Exported:   ${head.exportedOn}`,
    "",
    ";; SOA Record",
    `${head.zoneName}.\t${head.soaTtlSeconds}\tIN\tSOA\t${head.soa}`,
    "",
    ";; NS Records",
    ...head.nameServers.map(
      (server) => `${head.zoneName}.\t${head.nsTtlSeconds}\tIN\tNS\t${server}.`,
    ),
  ];
  const names = Map.groupBy(records, ({ name }) => name);
  const isFlattened = ({ type, name }: RecordDraft): boolean =>
    type === "CNAME" && (name === head.zoneName || names.get(name)!.length > 1);
  const plain = records.filter((record) => !isFlattened(record));
  const flattened = records.filter(isFlattened);
  const groups = Map.groupBy(plain, ({ type }) => type);
  for (const [type, group] of [...groups].sort(([one], [other]) => (one < other ? -1 : 1))) {
    lines.push("", `;; ${type} Records`, ...group.map(composeLine));
  }
  if (flattened.length > 0) {
    lines.push(
      "",
      ";; CNAME Records beside other records, which are answered with the addresses of their targets",
      ...flattened.map((record) => flattenedMark + composeLine(record)),
    );
  }
  return `${lines.join("\n")}\n`;
}

/**
 * The comment at the end of a record's line: the comment of the record, then `cf_tags=` and the
 * tags. Reserved tags with the prefix cf- hold `proxied` and the settings, which DNS data cannot
 * express.
 */
const tagsMark = "cf_tags=";
const proxiedTag = "cf-proxied";
const routingTag = "cf-private-routing";
/** Deviation: an export of the deployed service omits the settings and loses them. */
const settingTags: ReadonlyMap<string, keyof RecordSettings> = new Map([
  ["cf-flatten-cname", "flatten_cname"],
  ["cf-ipv4-only", "ipv4_only"],
  ["cf-ipv6-only", "ipv6_only"],
]);

function composeLineComment(record: RecordDraft): string {
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
