import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blankMessage, encodeMessage } from "../wire/message.ts";
import { classCodes, typeCodes } from "../wire/numbers.ts";
import type { ResourceRecord } from "../wire/resource-record.ts";
import { IncomingZone, soaSerial } from "./incoming.ts";

const zoneName = "example.org";
const common = { name: zoneName, class: classCodes.IN, ttlSeconds: 300 };

/** A number is the SOA with that serial, and text an A record that ends in it. */
function record(written: number | string): ResourceRecord {
  if (typeof written === "string") {
    return { ...common, type: typeCodes.A, data: Uint8Array.of(192, 0, 2, Number(written)) };
  }
  const data = new Uint8Array(22);
  new DataView(data.buffer).setUint32(2, written);
  return { ...common, type: typeCodes.SOA, data };
}

/** @param cuts where a message ends and the next begins */
function take(
  written: readonly (number | string)[],
  fromSerial?: number,
  cuts: readonly number[] = [],
): (number | string)[] | null {
  const incoming = new IncomingZone({ zoneName, id: 7, signed: null, fromSerial });
  const ends = [...cuts, written.length].toSorted((one, other) => one - other);
  let records: readonly ResourceRecord[] | null = null;
  for (const [index, end] of ends.entries()) {
    const answers = written.slice(ends[index - 1] ?? 0, end).map(record);
    records = incoming.take(encodeMessage({ ...blankMessage, id: 7, response: true, answers }), 0);
  }
  return (
    records?.map((each) =>
      each.type === typeCodes.SOA ? soaSerial(each) : String(each.data.at(-1)),
    ) ?? null
  );
}

describe("IncomingZone", () => {
  it.each<[string, (number | string)[], number | undefined, (number | string)[] | null]>([
    ["a zone ends with its SOA", [3, "1", "2", 3], undefined, [3, "1", "2"]],
    ["a zone without its end is not complete", [3, "1", "2"], undefined, null],
    ["the SOA alone has nothing newer", [3], 3, [3]],
    ["a server that is behind has nothing newer", [3], 4, [3]],
    ["the SOA alone of a newer zone is a beginning", [3], 2, null],
    ["a zone in place of changes", [3, "1", 3], 1, [3, "1"]],
    ["an empty zone in place of changes", [3, 3], 1, [3]],
    ["the changes of one serial", [3, 2, "1", 3, "2", 3], 2, [3, 2, "1", 3, "2"]],
    ["changes that add nothing", [3, 2, "1", 3, 3], 2, [3, 2, "1", 3]],
    ["changes before their last SOA", [3, 2, "1", 3], 2, null],
    ["two serials", [3, 1, "1", 2, "2", 2, 3, "3", 3], 1, [3, 1, "1", 2, "2", 2, 3, "3"]],
  ])("%s", (_, written, fromSerial, expected) => {
    expect(take(written, fromSerial)).toEqual(expected);
  });

  it("has the same records wherever the messages end", () => {
    const written = [3, 1, "1", 2, "2", 2, 3, "3", 3];
    const whole = take(written, 1);
    fc.assert(
      fc.property(fc.subarray([1, 2, 3, 4, 5, 6, 7, 8]), (cuts) => {
        expect(take(written, 1, cuts)).toEqual(whole);
      }),
    );
  });

  it("refuses records after the end", () => {
    expect(() => take([3, 2, "1", 3, "2", 3, "3"], 2)).toThrow("Records follow the end");
  });
});
