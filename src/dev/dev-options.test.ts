import { expect, it } from "vitest";
import { UserError } from "../base/user-error.ts";
import { checkOptions, hasQueryFaults } from "./dev-options.ts";

it("hasQueryFaults() finds faults of queries among all faults", () => {
  expect(hasQueryFaults()).toBe(false);
  expect(hasQueryFaults(["put:photos:10001"])).toBe(false);
  expect(hasQueryFaults(["put:photos:10001", "dns:drop:*"])).toBe(true);
});

it("checkOptions() refuses texts that are no faults, and faults without DNS", () => {
  expect(() => checkOptions({ faults: ["dns:drop"] })).toThrow(UserError);
  expect(() => checkOptions({ faults: ["dns:drop:*"], dns: false })).toThrow(
    "A fault of DNS queries needs DNS: leave out --no-dns (dns: false).",
  );
  expect(() => checkOptions({ faults: ["putt:photos:10001"] })).toThrow('Did you mean "put"?');
  checkOptions({ faults: ["dns:drop:*"] });
  checkOptions({ faults: ["put:photos:10001"], dns: false });
});
