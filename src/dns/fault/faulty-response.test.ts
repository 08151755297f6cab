import * as fc from "fast-check";
import { expect, it } from "vitest";
import { composeQuery, plainEdns, respondFrom } from "../../../test/dns/support/query.ts";
import { serve } from "../../../test/dns/support/served.ts";
import { blankMessage, decodeMessage, encodeMessage } from "../wire/message.ts";
import { rcodes } from "../wire/numbers.ts";
import { truncateResponse, withoutRecords, withWrongId } from "./faulty-response.ts";

const zones = serve({ "example.org": "www 300 A 192.0.2.1" });

function respond(): Uint8Array {
  const query = composeQuery("www.example.org A", { edns: plainEdns });
  const { responder } = respondFrom(zones);
  const source = { transport: "udp", address: Uint8Array.of(127, 0, 0, 1) } as const;
  return responder.respond(query, source, 1000) as Uint8Array;
}

it("withoutRecords() keeps OPT", () => {
  const faulty = decodeMessage(withoutRecords(respond(), { rcode: rcodes.SERVFAIL }));
  expect(faulty.edns).toEqual(plainEdns);
  expect([faulty.rcode, faulty.answers]).toEqual([rcodes.SERVFAIL, []]);
});

it("truncateResponse() keeps the code and AA", () => {
  expect(decodeMessage(truncateResponse(respond()))).toMatchObject({
    rcode: rcodes.NOERROR,
    authoritative: true,
    truncated: true,
    answers: [],
    questions: [{ name: "www.example.org" }],
  });
});

it("withWrongId() never keeps the identifier, and changes nothing else", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 65_535 }), (id) => {
      const bytes = encodeMessage({ ...blankMessage, id, response: true }, { bytesMax: 512 });
      const changed = withWrongId(bytes);
      expect(decodeMessage(changed).id).not.toBe(id);
      expect(changed.subarray(2)).toEqual(bytes.subarray(2));
    }),
  );
});
