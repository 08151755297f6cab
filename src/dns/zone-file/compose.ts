import type { RecordDraft } from "../record/zone-record.ts";
import { recordType } from "../record/types.ts";
import { composeLineComment } from "./line-comment.ts";

export interface ZoneFileHead {
  readonly zoneName: string;
  readonly nameServers: readonly string[];
  readonly nsTtlSeconds: number;
  readonly soaTtlSeconds: number;
  /** SOA rdata in presentation form. */
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
