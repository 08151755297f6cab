import { expect, test } from "vitest";
import { contentRequest, formatData, typeCode, typeName } from "./presentation.ts";
import { recordType, recordTypes } from "./types.ts";

test("typeName() and typeCode() cover the API's types, question types and numbers", () => {
  for (const [name, code] of [
    ["A", 1],
    ["HTTPS", 65],
    ["AXFR", 252],
    ["RRSIG", 46],
    ["NXNAME", 128],
    ["TYPE65280", 65_280],
  ] as const) {
    expect([typeName(code), typeCode(name.toLowerCase())]).toEqual([name, code]);
  }
  for (const word of ["TYPE65536", "TYPE01", "TYPE", "toString", ""]) {
    expect(typeCode(word)).toBeNull();
  }
});

test("formatData() writes unknown and malformed data in the form of RFC 3597", () => {
  expect(formatData(1, Uint8Array.of(192, 0, 2, 1))).toBe("192.0.2.1");
  expect(formatData(13, Uint8Array.of(7, ...Buffer.from("RFC8482"), 0))).toBe('"RFC8482" ""');
  expect(formatData(65_280, Uint8Array.of(1, 0xab))).toBe("\\# 2 01ab");
  expect(formatData(65_280, new Uint8Array())).toBe("\\# 0");
  // The data of an A record has four octets.
  expect(formatData(1, Uint8Array.of(1, 2, 3))).toBe("\\# 3 010203");
});

test("formatData() writes the records of DNSSEC as in RFC 4034", () => {
  const name = [7, ...Buffer.from("example"), 0];
  const times = [0x48, 0x77, 0x3b, 0x3d, 0x48, 0x4f, 0xae, 0x3d];
  const signature = Uint8Array.of(0, 1, 13, 2, 0, 0, 1, 44, ...times, 0xd9, 0x60, ...name, 1, 2);
  expect(formatData(46, signature)).toBe(
    "A 13 2 300 20080711105141 20080611105141 55648 example. AQI=",
  );
  const nsec = Uint8Array.of(1, 0, ...name, 0, 17, 0, 0, 0, 0, 0, 3, ...new Uint8Array(10), 0x80);
  expect(formatData(47, nsec)).toBe("\\000.example. RRSIG NSEC NXNAME");
  expect(formatData(59, Uint8Array.of(0, 1, 13, 2, 0xab))).toBe("1 13 2 ab");
  expect(formatData(60, Uint8Array.of(1, 1, 3, 13, 1, 2))).toBe("257 3 13 AQI=");
  // A bitmap that ends too early.
  expect(formatData(47, Uint8Array.of(...name, 0, 2, 1))).toBe("\\# 12 076578616d706c6500000201");
});

test("contentRequest() reads the example of every type that a request can create", () => {
  for (const type of recordTypes.values()) {
    if (type.managedBy !== null) continue;
    const request = contentRequest(type, type.example);
    expect(request).toBeTypeOf("object");
    const problems: unknown[] = [];
    const rdata = type.accept({ ...(request as object), priority: 1 }, "", (found) =>
      problems.push([type.type, found]),
    );
    expect([rdata === undefined, problems]).toEqual([false, []]);
  }
});

test("contentRequest() reads words on several lines, without the priority, with whole names", () => {
  expect(contentRequest(recordType("SRV"), "5 5060\n sip.example.org")).toEqual({
    data: { weight: "5", port: "5060", target: "sip.example.org" },
  });
  expect(contentRequest(recordType("CAA"), '0 issue "ca.example; a=b"')).toEqual({
    data: { flags: "0", tag: "issue", value: "ca.example; a=b" },
  });
  expect(contentRequest(recordType("TXT"), "as it is")).toEqual({ content: "as it is" });
});

test("contentRequest() says what is wrong, with an example", () => {
  expect(contentRequest(recordType("SRV"), "5 5060")).toBe(
    "The content has too few or too many words. " +
      "The content of this type looks like: 5 5060 sip.example.com",
  );
  expect(contentRequest(recordType("CAA"), '0 issue "ca')).toMatch(
    /^The content cannot be read: a quotation mark is not closed\. /,
  );
});
