import { expect, test } from "vitest";
import { isSameDraft, type RecordDraft } from "./zone-record.ts";

const draft: RecordDraft = {
  name: "www.example.org",
  type: "MX",
  content: "mail.example.org",
  priority: 10,
  ttl: 300,
  proxied: false,
  comment: null,
  tags: ["a:b", "c:d"],
  settings: {},
  privateRouting: false,
};

test("isSameDraft() is true for a copy", () => {
  expect(isSameDraft(draft, structuredClone(draft))).toBe(true);
});

test.each<Partial<RecordDraft>>([
  { name: "x.example.org" },
  { type: "NS" },
  { content: "x.example.org" },
  { priority: 11 },
  { ttl: 1 },
  { proxied: true },
  { comment: "x" },
  { tags: ["a:b"] },
  { tags: ["c:d", "a:b"] },
  { settings: { ipv4_only: true } },
])("isSameDraft() is false for the change %j", (change) => {
  expect(isSameDraft(draft, { ...draft, ...change })).toBe(false);
});
