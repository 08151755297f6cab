import { expect, it } from "vitest";
import { relativeTime } from "./saved-states.ts";

it.each([
  [0, "now"],
  [-400, "now"],
  [50_000, "now"],
  [-1000, "1 second ago"],
  [-59_400, "59 seconds ago"],
  [-60_000, "1 minute ago"],
  [-3_599_000, "59 minutes ago"],
  [-2 * 3_600_000, "2 hours ago"],
  [-30 * 3_600_000, "yesterday"],
  [-400 * 86_400_000, "400 days ago"],
])("relativeTime() says %i ms as %j", (milliseconds, text) => {
  expect(relativeTime(milliseconds)).toBe(text);
});
