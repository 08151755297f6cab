import { expect, test } from "vitest";
import { acceptOrThrow } from "../../../test/dns/support/accept.ts";
import { applyRecordPatch } from "./record-json.ts";
import type { RecordDraft } from "../record/zone-record.ts";

function edit(
  request: Readonly<Record<string, unknown>>,
  patch: Readonly<Record<string, unknown>>,
): RecordDraft {
  const record = {
    ...acceptOrThrow(request),
    id: "1",
    createdOn: "",
    modifiedOn: "",
    commentModifiedOn: null,
    tagsModifiedOn: null,
  };
  return acceptOrThrow(applyRecordPatch(record, patch));
}

const common = { name: "x", ttl: 300, comment: "c", tags: ["a:b"] };
const a = { ...common, type: "A", content: "192.0.2.1", settings: { ipv4_only: true } };
const srv = { ...common, type: "SRV", data: { priority: 1, weight: 2, port: 3, target: "t.test" } };
const uri = { ...common, type: "URI", priority: 1, data: { weight: 2, target: "https://t.test" } };
const mx = { ...common, type: "MX", priority: 1, content: "t.test" };

test.each<[Record<string, unknown>, Record<string, unknown>, Partial<RecordDraft>]>([
  [a, {}, {}],
  [a, { content: "192.0.2.2" }, { content: "192.0.2.2" }],
  [a, { name: "y" }, { name: "y.example.org" }],
  [a, { comment: null, tags: [], settings: {} }, { comment: null, tags: [], settings: {} }],
  [a, { proxied: true }, { proxied: true, ttl: 1 }],
  [a, { type: "TXT", content: "z", settings: {} }, { type: "TXT", content: '"z"', settings: {} }],
  [a, { type: "a" }, {}],
  [srv, { priority: 9 }, { priority: 9 }],
  [srv, { data: { weight: 5, port: 6, target: "u.test" } }, { priority: 1, content: "5 6 u.test" }],
  [
    srv,
    { data: { priority: 7, weight: 5, port: 6, target: "u.test" } },
    { priority: 7, content: "5 6 u.test" },
  ],
  [uri, { priority: 9 }, { priority: 9 }],
  [
    uri,
    { data: { weight: 5, target: "https://u.test" } },
    { priority: 1, content: '5 "https://u.test"' },
  ],
  [mx, { priority: 9 }, { priority: 9 }],
  [mx, { content: "u.test" }, { priority: 1, content: "u.test" }],
])("applyRecordPatch() changes %j with %j", (request, patch, change) => {
  expect(edit(request, patch)).toEqual({ ...acceptOrThrow(request), ...change });
});

test("applyRecordPatch() replaces data as a whole and drops the content of another type", () => {
  expect(() => edit(srv, { data: { weight: 5 } })).toThrow("port is a required data field.");
  expect(() => edit(mx, { type: "A" })).toThrow("content is a required field.");
});
