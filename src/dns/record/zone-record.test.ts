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

test("isSameDraft() compares every field of a draft, and no other", () => {
  expect(isSameDraft({ ...draft, id: "1" } as RecordDraft, structuredClone(draft))).toBe(true);
  for (const field of Object.keys(draft)) {
    expect(isSameDraft(draft, { ...draft, [field]: ["other"] })).toBe(false);
  }
  expect(isSameDraft(draft, { ...draft, tags: ["c:d", "a:b"] })).toBe(false);
});
