import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blankMessage, decodeMessage, type Message } from "../wire/message.ts";
import type { ResourceRecord } from "../wire/resource-record.ts";
import { classCodes, typeCodes } from "../wire/numbers.ts";
import { compareRecords, type ZoneDelta } from "./transferred-zone.ts";
import { transferOctets } from "./outgoing.ts";

function record(name: string, data: number, ttlSeconds = 300): ResourceRecord {
  return {
    name,
    type: typeCodes.A,
    class: classCodes.IN,
    ttlSeconds,
    data: Uint8Array.of(192, 0, 2, data),
  };
}

function soa(serial: number): ResourceRecord {
  const data = new Uint8Array(22);
  new DataView(data.buffer).setUint32(2, serial);
  return { name: "example.org", type: typeCodes.SOA, class: classCodes.IN, ttlSeconds: 3600, data };
}

function delta(from: number, records = 1): ZoneDelta {
  const removed = Array.from({ length: records }, (_, index) => record("a.example.org", index));
  return { from, to: from + 1, soaBefore: soa(from), soaAfter: soa(from + 1), removed, added: [] };
}

const query: Message = {
  ...blankMessage,
  id: 7,
  questions: [{ name: "example.org", type: typeCodes.AXFR, class: classCodes.IN }],
};

const incremental: Message = {
  ...query,
  questions: [{ name: "example.org", type: typeCodes.IXFR, class: classCodes.IN }],
  authorities: [soa(1)],
};

describe("compareRecords()", () => {
  it("removes and adds a record whose TTL changed", () => {
    expect(compareRecords([record("a", 1, 60)], [record("a", 1, 61)])).toEqual({
      removed: [record("a", 1, 60)],
      added: [record("a", 1, 61)],
    });
  });

  it("ignores the case of names", () => {
    expect(compareRecords([record("A.example", 1)], [record("a.EXAMPLE", 1)])).toEqual({
      removed: [],
      added: [],
    });
  });

  it("returns the changes that lead from one list to the other", () => {
    const lists = fc.uniqueArray(fc.nat(30)).map((data) => data.map((octet) => record("a", octet)));
    fc.assert(
      fc.property(lists, lists, (before, after) => {
        const { removed, added } = compareRecords(before, after);
        const left = before.filter((each) => !removed.includes(each));
        const made = [...left, ...added].map(({ data }) => data[3]!).sort((a, b) => a - b);
        expect(made).toEqual(after.map(({ data }) => data[3]!).sort((a, b) => a - b));
        expect(removed.length + added.length).toBe(
          new Set([...before, ...after].map(({ data }) => data[3])).size * 2 -
            before.length -
            after.length,
        );
      }),
    );
  });
});

/** The serials of SOA records and the last octets of others. */
const serials = (records: readonly ResourceRecord[]) =>
  records.map(({ type, data }) => (type === typeCodes.SOA ? `SOA ${data[5]}` : data[3]));

/** The messages of a transfer from a zone with these records and deltas. */
function transfer(records: readonly ResourceRecord[], deltas: readonly ZoneDelta[] = []) {
  const serial = deltas.at(-1)?.to ?? 9;
  const since = (from: number) => deltas.filter((each) => each.from >= from);
  const zone = { serial, soa: soa(serial), since, records: () => records.values() };
  const asked = deltas.length === 0 ? query : incremental;
  return Array.from(transferOctets(asked, zone as never, null), decodeMessage);
}

describe("transferOctets()", () => {
  it("begins and ends a whole zone with its SOA", () => {
    const [message] = transfer([record("a", 1)]);
    expect(serials(message!.answers)).toEqual(["SOA 9", 1, "SOA 9"]);
    expect(message).toMatchObject({ id: 7, response: true, authoritative: true, rcode: 0 });
  });

  it("puts removed records after the old SOA and added records after the new one", () => {
    const deltas = [delta(1), { ...delta(2, 0), added: [record("b", 8)] }];
    const [message] = transfer([], deltas);
    const expected = ["SOA 3", "SOA 1", 0, "SOA 2", "SOA 2", "SOA 3", 8, "SOA 3"];
    expect(serials(message!.answers)).toEqual(expected);
  });

  it("divides a long transfer into messages, with the question in the first only", () => {
    const records = Array.from({ length: 5000 }, (_, index) =>
      record(`${"n".repeat(50)}${index}.example.org`, index % 256),
    );
    const messages = transfer(records);
    expect(messages.length).toBeGreaterThan(10);
    expect(messages.map(({ questions }) => questions.length)).toEqual(
      messages.map((_, index) => (index === 0 ? 1 : 0)),
    );
    expect(messages.flatMap(({ answers }) => answers)).toEqual([soa(9), ...records, soa(9)]);
  });
});
