/**
 * The two ways between the companion worker and the listeners, over loopback HTTP and with a
 * secret that is made at each start. The worker posts publications as they happen; a listener
 * gets the list of zones, and the state of one:
 *
 *     POST  /publications         a list of publications; 204 once every thread has taken them
 *     POST  /outside              a question about a name elsewhere; what the resolver says
 *     GET   /ledge/zones          the ids of all zones, a list
 *     GET   /ledge/zones/{id}     a line with the zone's head, then lines with lists of records;
 *                                 404 when there is no such zone
 */
import type { ServedRecord, ZoneData } from "../answer/served-zone.ts";

export const secretHeader = "x-ledge-secret";
export const publicationPath = "/publications";
export const outsidePath = "/outside";
/** A host must be named; the service behind the binding has one address. */
export const listenersOrigin = "http://listeners";
export const zonesPath = "/ledge/zones";

/** Records in a line: long enough to be quick, short enough to hold in hand. */
const recordsPerLine = 1000;

export function* stateLines({ records, ...head }: ZoneData): Generator<string, void> {
  yield `${JSON.stringify(head)}\n`;
  for (let from = 0; from < records.length; from += recordsPerLine) {
    yield `${JSON.stringify(records.slice(from, from + recordsPerLine))}\n`;
  }
}

export function readStateLines(text: string): ZoneData {
  const [head = "", ...lines] = text.trimEnd().split("\n");
  const records = lines.flatMap((line) => JSON.parse(line) as ServedRecord[]);
  return { ...(JSON.parse(head) as Omit<ZoneData, "records">), records };
}
