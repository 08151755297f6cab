/**
 * HTTP between the companion worker and the listeners, over loopback, with a secret that is new at
 * each start. The worker posts publications and external questions; a listener thread gets zones:
 *
 *     POST  /publications         a list of publications; 204 after every thread applied them
 *     POST  /external             a question about an external name; the resolver's result
 *     POST  /queries              the numbers of queries of all threads
 *     POST  /observation          the faults of queries, and whether queries are logged
 *                                 (`src/dns/fault`); 204 after every thread has them
 *     POST  /log                  the logged queries of all threads
 *     POST  /reach                the addresses at which the threads answer
 *     GET   /ledge/zones          a list of the ids of all zones
 *     GET   /ledge/zones/{id}     a line with the zone's head, then lines with lists of records;
 *                                 404 when the zone does not exist
 *     GET   /ledge/zones/{id}/changes/{serial}
 *                                 a list of the changes after the serial (`publication.ts`);
 *                                 404 when the log does not reach back to it
 *     POST  /ledge/zones/{id}/serial
 *                                 gives the zone a new serial: flattened names have new addresses
 *     POST  /ledge/take_fault     a question; the id of the fault that hits it, or null
 *     GET   /ledge/observation    what `/observation` has last told the listeners
 */
import type { ServedRecord, ZoneData } from "../rules/zone.ts";

export const secretHeader = "x-ledge-secret";
export const publicationPath = "/publications";
export const externalPath = "/external";
export const queriesPath = "/queries";
export const observationPath = "/observation";
export const logPath = "/log";
export const reachPath = "/reach";
/** `fetch()` needs a host, and the listeners' server answers loopback names (`base/host-rule.ts`). */
export const listenersOrigin = "http://localhost";
export const zonesPath = "/ledge/zones";
export const takeFaultPath = "/ledge/take_fault";
export const currentObservationPath = "/ledge/observation";

/** Few lines for a large zone, and little memory for a line. */
const recordsPerLine = 1000;

/** A zone whose records need not be in memory together. */
interface ZoneState extends Omit<ZoneData, "records"> {
  readonly records: Iterable<ServedRecord>;
}

export function* stateLines({ records, ...head }: ZoneState): Generator<string, void> {
  yield `${JSON.stringify(head)}\n`;
  let line: ServedRecord[] = [];
  for (const record of records) {
    line.push(record);
    if (line.length < recordsPerLine) continue;
    yield `${JSON.stringify(line)}\n`;
    line = [];
  }
  if (line.length > 0) yield `${JSON.stringify(line)}\n`;
}

/**
 * Reads line by line: a large zone is never in memory as text.
 *
 * @param pieces of the text, cut anywhere
 */
export async function readState(pieces: AsyncIterable<string>): Promise<ZoneData> {
  let head: Omit<ZoneData, "records"> | undefined;
  const records: ServedRecord[] = [];
  let rest = "";
  for await (const piece of pieces) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) {
      if (head === undefined) head = JSON.parse(line) as Omit<ZoneData, "records">;
      else for (const record of JSON.parse(line) as ServedRecord[]) records.push(record);
    }
  }
  if (head === undefined || rest !== "") throw new Error("The state of a zone is not complete.");
  return { ...head, records };
}
