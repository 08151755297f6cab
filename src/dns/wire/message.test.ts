import dnsPacket from "dns-packet";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rdataOf } from "../../../test/dns/support/record-arbitrary.ts";
import { propertyRuns } from "../../../test/support/property-runs.ts";
import { recordType } from "../record/types.ts";
import {
  blankMessage,
  decodeMessage,
  encodeMessage,
  type Message,
  frame,
  Frames,
} from "./message.ts";
import type { ResourceRecord } from "./resource-record.ts";
import { escapeLabel } from "./name.ts";
import { typeCodes } from "./numbers.ts";
import { WireError } from "./bytes.ts";
import { Writer } from "./octets.ts";

function message(changes: Partial<Message> = {}): Message {
  return { ...blankMessage, id: 1, ...changes };
}

const uint16 = fc.integer({ min: 0, max: 65_535 });
const label = fc.oneof(
  fc.constantFrom("a", "B", "example", "ORG", "*"),
  fc.uint8Array({ minLength: 1, maxLength: 12 }).map(escapeLabel),
);
/** A small set of labels, so that names share suffixes. */
const name = fc
  .array(label, { maxLength: 5 })
  .map((labels) => (labels.length === 0 ? "." : labels.join(".")));

/** Data of every type of the API, and of an unknown type. */
const record: fc.Arbitrary<ResourceRecord> = fc
  .tuple(name, fc.nat(0xffff_ffff), fc.constantFrom("TYPE65280", ...Object.keys(rdataOf)))
  .chain(([owner, ttlSeconds, type]) => {
    const octets: fc.Arbitrary<[number, Uint8Array]> =
      type === "TYPE65280"
        ? fc.uint8Array({ maxLength: 40 }).map((data) => [65_280, data])
        : rdataOf[type]!.map((request) => {
            const definition = recordType(type);
            const rdata = definition.accept(request, "x.example", () => {});
            return [definition.code, definition.write(rdata!)];
          });
    return octets.map(([code, data]) => ({ name: owner, type: code, class: 1, ttlSeconds, data }));
  });
const records = fc.array(record, { maxLength: 6 });

const anyMessage: fc.Arbitrary<Message> = fc.record({
  id: uint16,
  response: fc.boolean(),
  opcode: fc.nat(15),
  authoritative: fc.boolean(),
  truncated: fc.boolean(),
  recursionDesired: fc.boolean(),
  recursionAvailable: fc.boolean(),
  authenticData: fc.boolean(),
  checkingDisabled: fc.boolean(),
  rcode: fc.nat(15),
  questions: fc.array(fc.record({ name, type: uint16, class: uint16 }), { maxLength: 2 }),
  answers: records,
  authorities: records,
  additionals: records,
  edns: fc.option(
    fc.record({
      udpBytesMax: uint16,
      version: fc.nat(255),
      dnssecOk: fc.boolean(),
      compactOk: fc.boolean(),
      options: fc.array(fc.record({ code: uint16, data: fc.uint8Array({ maxLength: 20 }) }), {
        maxLength: 3,
      }),
    }),
  ),
  tsig: fc.option(
    fc.record({
      keyName: name,
      algorithm: fc.constantFrom("hmac-sha256", "hmac-sha512"),
      timeSignedSeconds: fc.nat(2 ** 40),
      fudgeSeconds: uint16,
      mac: fc.uint8Array({ maxLength: 64 }),
      originalId: uint16,
      error: uint16,
      other: fc.uint8Array({ maxLength: 6 }),
    }),
  ),
});

const fold = <Named extends { readonly name: string }>(list: readonly Named[]) =>
  list.map((item) => ({ ...item, name: item.name.toLowerCase() }));

/** A compression pointer may lead to the same name in another case. */
function lowerCase(made: Message): unknown {
  const { questions, answers, authorities, additionals } = made;
  return {
    ...made,
    questions: fold(questions),
    answers: fold(answers),
    authorities: fold(authorities),
    additionals: fold(additionals),
  };
}

/** The types that dns-packet decodes and encodes without loss; it keeps only one flag of CAA. */
const oracleCodes = new Set(
  "A AAAA NS CNAME PTR MX SRV TXT DS DNSKEY NAPTR SSHFP TLSA"
    .split(" ")
    .map((type) => recordType(type).code),
);

describe("encodeMessage() and decodeMessage()", () => {
  test("are inverse", () => {
    fc.assert(
      fc.property(anyMessage, (made) => {
        const decoded = decodeMessage(encodeMessage(made));
        expect(lowerCase(decoded)).toEqual(lowerCase(made));
      }),
      { numRuns: propertyRuns({ few: 150, all: 500 }) },
    );
  });

  test("agree with an independent decoder and encoder", () => {
    const plain = fc
      .array(
        record.filter(({ type, name: owner }) => oracleCodes.has(type) && /^[\w.]+$/.test(owner)),
        { minLength: 1, maxLength: 6 },
      )
      .map((answers) => message({ response: true, answers }));
    fc.assert(
      fc.property(plain, (made) => {
        const theirs = dnsPacket.decode(Buffer.from(encodeMessage(made)));
        expect(theirs.answers).toHaveLength(made.answers.length);
        const back = decodeMessage(new Uint8Array(dnsPacket.encode(theirs)));
        expect(lowerCase({ ...made, answers: back.answers })).toEqual(lowerCase(made));
      }),
      { numRuns: propertyRuns({ few: 150, all: 300 }) },
    );
  });

  test("agree with an independent reader on the header and OPT", () => {
    const bytes = encodeMessage(
      message({
        id: 4660,
        response: true,
        authoritative: true,
        recursionDesired: true,
        rcode: 16,
        questions: [{ name: "www.example.org", type: typeCodes.A, class: 1 }],
        edns: {
          udpBytesMax: 1232,
          version: 0,
          dnssecOk: true,
          compactOk: false,
          options: [{ code: 3, data: Uint8Array.of(1, 2) }],
        },
      }),
    );
    expect(dnsPacket.decode(Buffer.from(bytes))).toMatchObject({
      id: 4660,
      type: "response",
      flag_aa: true,
      flag_rd: true,
      flag_tc: false,
      questions: [{ name: "www.example.org", type: "A", class: "IN" }],
      additionals: [{ type: "OPT", udpPayloadSize: 1232, extendedRcode: 1, flag_do: true }],
    });
    expect(decodeMessage(bytes).rcode).toBe(16);
  });
});

const octets = (...bytes: number[]) => Uint8Array.from(bytes);

function nameRecord(owner: string, type: number, target: string): ResourceRecord {
  const writer = new Writer();
  writer.name(target);
  return { name: owner, type, class: 1, ttlSeconds: 1, data: writer.finish() };
}

const chain = (pointers: number) => {
  // A question for "a", and data of pointers that each lead to the preceding pointer.
  const bytes = [0, 1, 128, 0, 0, 1, 0, 0, 0, 0, 0, 0];
  bytes.push(1, 0x61, 0, 0, 1, 0, 1);
  const data: number[] = [0xc0, 12];
  const start = bytes.length + 11;
  for (let count = 1; count < pointers; count++) {
    const target = start + (count - 1) * 2;
    data.push(0xc0 | (target >> 8), target & 0xff);
  }
  bytes[7] = 2;
  bytes.push(0, 255, 0, 0, 1, 0, 0, 0, 0, data.length >> 8, data.length & 0xff, ...data);
  const last = start + (pointers - 1) * 2;
  bytes.push(0xc0 | (last >> 8), last & 0xff, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0);
  return Uint8Array.from(bytes);
};

describe("compression", () => {
  test("points to earlier names in any case, also from data of RFC 1035 types", () => {
    const bytes = encodeMessage(
      message({
        questions: [{ name: "WWW.example.org", type: typeCodes.CNAME, class: 1 }],
        answers: [nameRecord("www.EXAMPLE.org", typeCodes.CNAME, "ftp.example.org")],
      }),
    );
    expect(bytes.length).toBe(12 + 17 + 4 + 2 + 10 + 6);
    expect(decodeMessage(bytes).answers[0]!.name).toBe("WWW.example.org");
  });

  test("is not used in data of later types", () => {
    const svcb = nameRecord("example.org", 39, "example.org");
    const bytes = encodeMessage(message({ answers: [svcb] }));
    expect(bytes.length).toBe(12 + 13 + 10 + 13);
  });

  test("is decoded in the types of RFC 3597 section 4", () => {
    const head = [0, 1, 128, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0x61, 0];
    const srv = octets(...head, 0, 33, 0, 1, 0, 0, 0, 0, 0, 8, 0, 1, 0, 2, 0, 3, 0xc0, 12);
    expect(decodeMessage(srv).answers[0]!.data).toEqual(octets(0, 1, 0, 2, 0, 3, 1, 0x61, 0));
    const unknown = octets(...head, 255, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0xc0, 12);
    expect(decodeMessage(unknown).answers[0]!.data).toEqual(octets(0xc0, 12));
  });

  test("refuses a chain of more than 127 pointers", () => {
    expect(decodeMessage(chain(126)).answers[1]!.name).toBe("a");
    expect(() => decodeMessage(chain(127))).toThrow(WireError);
  });

  test("is correct for thousands of names", () => {
    const answers = Array.from({ length: 3000 }, (_, index) => ({
      name: `n${index}.example.org`,
      type: typeCodes.A,
      class: 1,
      ttlSeconds: 1,
      data: octets(192, 0, 2, 1),
    }));
    const bytes = encodeMessage(message({ answers }));
    expect(bytes.length).toBeLessThan(3000 * 26);
    expect(decodeMessage(bytes)).toEqual(message({ answers }));
  });
});

const long = (bytes: number) => {
  const data = new Uint8Array(bytes);
  return message({ answers: [{ name: ".", type: 16, class: 1, ttlSeconds: 1, data }] });
};

test("encodeMessage() refuses a message of more than 65535 octets", () => {
  expect(encodeMessage(long(65_535 - 12 - 11))).toHaveLength(65_535);
  expect(() => encodeMessage(long(65_535 - 12 - 10))).toThrow(WireError);
});

const header = (counts: number[]) => [0, 1, 0, 0, ...counts.flatMap((count) => [0, count])];

describe("decodeMessage() refuses", () => {
  const opt = [0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0];
  test.each([
    ["less than a header", octets(0, 1, 0)],
    ["counts without records", octets(...header([1, 0, 0, 0]))],
    ["octets after the end", octets(...header([0, 0, 0, 0]), 0)],
    ["two OPT records", octets(...header([0, 0, 0, 2]), ...opt, ...opt)],
    ["OPT among the answers", octets(...header([0, 1, 0, 0]), ...opt)],
    ["OPT of a name", octets(...header([0, 0, 0, 1]), 1, 0x61, ...opt)],
    [
      "an option that runs past the end",
      octets(...header([0, 0, 0, 1]), ...opt.slice(0, -1), 4, 0, 3, 0, 1),
    ],
    ["a name that points to itself", octets(...header([1, 0, 0, 0]), 0xc0, 12, 0, 1, 0, 1)],
    ["a label of an unknown kind", octets(...header([1, 0, 0, 0]), 0x40, 0, 0, 1, 0, 1)],
    [
      "data with a name and too little else",
      octets(...header([0, 1, 0, 0]), 0, 0, 15, 0, 1, 0, 0, 0, 0, 0, 1, 0),
    ],
    ["more than 65535 octets", new Uint8Array(65_536)],
  ])("%s", (_, bytes) => {
    expect(() => decodeMessage(bytes)).toThrow(WireError);
  });
});

const messages = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 });

/** Splits octets into pieces of these sizes, in turn. */
function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let from = 0, at = 0; from < bytes.length; at++) {
    const size = sizes[at % sizes.length]!;
    pieces.push(bytes.slice(from, from + size));
    from += size;
  }
  return pieces;
}

describe("Frames", () => {
  test("finds the messages of a stream in pieces of any size", () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(messages, sizes, (sent, cuts) => {
        const frames = new Frames();
        const stream = Buffer.concat(sent.map(frame));
        const found = cut(stream, cuts).flatMap((piece) =>
          Array.from(frames.push(piece), (each) => Buffer.from(each)),
        );
        expect(found).toEqual(sent.map((each) => Buffer.from(each)));
      }),
    );
  });
});
