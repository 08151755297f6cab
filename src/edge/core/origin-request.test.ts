import { expect, it } from "vitest";
import { addPassage, countPassages } from "./origin-request.ts";

it.each([
  ["", 0, "cloudflare; loops=1"],
  ["cloudflare", 1, "cloudflare; loops=2"],
  ["Cloudflare ;loops=3", 3, "cloudflare; loops=4"],
  ["cloudflare; subreqs=1; loops=2", 2, "cloudflare; loops=3"],
  ["other.example; loops=9", 0, "other.example; loops=9, cloudflare; loops=1"],
  ["cloudflare; loops=2, other.example, cloudflare", 3, "other.example, cloudflare; loops=4"],
  ["cloudflare.example", 0, "cloudflare.example, cloudflare; loops=1"],
])("countPassages() and addPassage() of %j", (header, count, next) => {
  expect([countPassages(header), addPassage(header)]).toEqual([count, next]);
});
