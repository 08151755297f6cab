/**
 * Zones from text, and answers as text, for tables of cases. Records pass the checks of a POST, so
 * that tests serve no zone that the API would refuse.
 */
import { answer, type Answer } from "../../../src/dns/answer/answer.ts";
import { encodeName, formatName } from "../../../src/dns/wire/name.ts";
import { rcodeName } from "../../../src/dns/wire/numbers.ts";
import type { RecordSet } from "../../../src/dns/wire/resource-record.ts";
import { acceptRecord } from "../../../src/dns/rules/accept-record.ts";
import type { Problem } from "../../../src/dns/record/problem.ts";
import {
  ExternalAddressCache,
  isExternalNeeded,
} from "../../../src/dns/answer/external-addresses.ts";
import { formatData, typeCode, typeName } from "../../../src/dns/record/presentation.ts";
import type { ServedRecord, ZoneData } from "../../../src/dns/rules/zone.ts";
import { ServedZones } from "../../../src/dns/answer/served-zones.ts";
import { defaultSettings } from "../../../src/dns/rules/zone-settings.ts";
import { parseZoneFile } from "../../../src/dns/zone-file/parse.ts";

const platform = ["198.18.0.1", "2001:2::1"];
const zoneNameServers = ["ns1.ledge.local", "ns2.ledge.local"];

export function readRecords(zoneName: string, text: string): ServedRecord[] {
  const rules = {
    zoneName,
    nameRules: "dns" as const,
    platformAddresses: platform,
    commentCharactersMax: 100,
    tagsMax: 20,
  };
  // Lines may be indented, because every line starts with an owner name.
  const lines = text.replaceAll(/^[^\S\n]+/gm, "");
  return parseZoneFile(lines, { zoneName, proxied: false, recordsMax: 100_000 }).map(
    ({ request, line }, index) => {
      const problems: Problem[] = [];
      const draft = acceptRecord(request, rules, (found) => problems.push(found));
      if (draft === undefined || problems.length > 0) {
        throw new Error(`line ${line}: ${problems.map(({ message }) => message).join(" ")}`);
      }
      return { ...draft, id: `${zoneName}-${index}` };
    },
  );
}

export function zoneData(
  name: string,
  records: readonly ServedRecord[],
  changes: Partial<ZoneData> & { readonly flattenAll?: boolean } = {},
): ZoneData {
  const { flattenAll = false, ...head } = changes;
  const settings = { ...defaultSettings(zoneNameServers), flatten_all_cnames: flattenAll };
  return {
    id: name,
    name,
    serial: 7,
    nameServers: zoneNameServers,
    settings,
    http2: true,
    http3: true,
    paused: false,
    records,
    ...head,
  };
}

export function serve(
  texts: Readonly<Record<string, string>>,
  changes: Parameters<typeof zoneData>[2] = {},
): ServedZones {
  const zones = new ServedZones({ platformAddresses: platform });
  for (const [name, text] of Object.entries(texts)) {
    zones.put(zoneData(name, readRecords(name, text), changes));
  }
  return zones;
}

/**
 * Rows of a table of cases: a question, and the lines of its answer after `|`. A line that begins
 * with `|` continues a row, and a line that begins with `;` is a comment.
 */
export function readRows(table: string): [question: string, lines: string[]][] {
  const rows = table.replaceAll(/\n\s*\|/g, " |").matchAll(/^\s*([^\s;].*)$/gm);
  return Array.from(rows, ([, row]) => {
    const [question, ...lines] = row!.split("|").map((part) => part.trim());
    return [question!, lines];
  });
}

function describeSets(section: string, sets: readonly RecordSet[]): string[] {
  return sets.flatMap(({ owner, type, ttlSeconds, data }) =>
    data.map((octets) => {
      const head = `${section} ${formatName(owner)} ${ttlSeconds} ${typeName(type)}`;
      // All tests have the same SOA data; only its TTL differs.
      return typeName(type) === "SOA" ? head : `${head} ${formatData(type, octets)}`;
    }),
  );
}

/** One line for the RCODE and AA, and one line for each record. */
function describeAnswer(made: Answer): string[] {
  return [
    `${rcodeName(made.rcode)}${made.authoritative ? " aa" : ""}`,
    ...describeSets("answer", made.answers),
    ...describeSets("authority", made.authorities),
    ...describeSets("glue", made.glue),
    ...describeSets("additional", made.additionals),
  ];
}

export interface AskOptions {
  readonly external?: ExternalAddressCache;
  readonly nowSeconds?: number;
  readonly class?: number;
}

/** `question` is a name and a type. */
export function ask(zones: ServedZones, question: string, options: AskOptions = {}): string[] {
  const { external = new ExternalAddressCache(), nowSeconds = 0 } = options;
  const [name, type] = question.split(" ");
  const made = answer(
    { name: encodeName(name!), type: typeCode(type!)!, class: options.class ?? 1 },
    { zones, external, nowSeconds },
  );
  if (isExternalNeeded(made)) return [`needs ${made.question.name} ${made.question.type}`];
  return "kind" in made ? [made.kind] : describeAnswer(made);
}
