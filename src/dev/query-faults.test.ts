import { expect, it } from "vitest";
import { UserError } from "../base/user-error.ts";
import { checkOptions } from "./dev-options.ts";
import { parseQueryFaults } from "./query-faults.ts";

it("parseQueryFaults() reads the faults of queries", () => {
  expect(parseQueryFaults()).toEqual([]);
  expect(parseQueryFaults(["dns:drop:*", "put:photos:10001", "dns:delay:a.test:1s"])).toEqual([
    { kind: "drop" },
    { kind: "delay", name: "a.test", by: "1s" },
  ]);
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
