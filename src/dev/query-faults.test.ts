import { expect, it } from "vitest";
import { UserError } from "../base/user-error.ts";
import { checkOptions } from "./dev-options.ts";
import { parseQueryFaults } from "./query-faults.ts";

it("parseQueryFaults() reads each fault", () => {
  expect(parseQueryFaults()).toEqual([]);
  expect(parseQueryFaults(["dns:drop:*", "dns:delay:a.test:1s"])).toEqual([
    { kind: "drop" },
    { kind: "delay", name: "a.test", by: "1s" },
  ]);
});

it("checkOptions() refuses texts that are no faults, and faults without DNS", () => {
  expect(() => checkOptions({ faults: ["dns:drop"] })).toThrow(UserError);
  expect(() => checkOptions({ faults: ["dns:drop:*"], dns: false })).toThrow(
    "A fault of DNS queries needs DNS: leave out --no-dns (dns: false).",
  );
  checkOptions({ faults: ["dns:drop:*"] });
});
