import { expect, test } from "vitest";
import { acceptApiFault, FaultPlan } from "./api-fault.ts";

const call = { method: "POST", path: "/client/v4/zones/1/dns_records" };

function outcomes(fault: Record<string, unknown>, calls = 4, made = call): (number | null)[] {
  const plan = new FaultPlan([acceptApiFault(fault, "fault")]);
  return Array.from({ length: calls }, () => plan.take(made)?.status ?? null);
}

test.each([
  [{ status: 429 }, [429, 429, 429, 429]],
  [{ status: 500, times: 2 }, [500, 500, null, null]],
  [{ status: 503, after: 1, times: 1 }, [null, 503, null, null]],
  [{ status: 403, method: "post" }, [403, 403, 403, 403]],
  [{ status: 403, method: "GET" }, [null, null, null, null]],
  [{ status: 500, path: "*/dns_records" }, [500, 500, 500, 500]],
  [{ status: 500, path: "/client/v4/zones/*" }, [500, 500, 500, 500]],
  [{ status: 500, path: "/client/v4/zones" }, [null, null, null, null]],
  [{ status: 500, path: "/client.v4/*" }, [null, null, null, null]],
])("FaultPlan: %j", (fault, expected) => expect(outcomes(fault)).toEqual(expected));

test.each([
  [7, "must be a table"],
  [{}, "needs a status or a delay_ms"],
  [{ status: 200 }, "from 400 to 599"],
  [{ status: 600 }, "at most 599"],
  [{ delay_ms: 1e9 }, "at most 60000"],
  [{ status: 500, when: "later" }, "before"],
  [{ status: 500, times: -1 }, "whole number"],
  [{ status: 500, path: 1 }, "path must be a string"],
  [{ status: 500, method: 1 }, "method must be a string"],
])("acceptApiFault() refuses %j", (fault, reason) => {
  expect(() => acceptApiFault(fault, "faults[0]")).toThrow(reason);
});
