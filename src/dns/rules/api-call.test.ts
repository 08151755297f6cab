import { expect, test } from "vitest";
import { FaultPlan, type ApiFault } from "./api-call.ts";

const call = { method: "POST", path: "/client/v4/zones/1/dns_records" };

const defaults: ApiFault = {
  method: null,
  path: "*",
  status: null,
  delayMilliseconds: 0,
  after: 0,
  times: null,
  when: "before",
};

function outcomes(fault: Partial<ApiFault>, calls = 4, made = call): (number | null)[] {
  const plan = new FaultPlan([{ ...defaults, ...fault }]);
  return Array.from({ length: calls }, () => plan.take(made)?.status ?? null);
}

test.each([
  [{ status: 429 }, [429, 429, 429, 429]],
  [{ status: 500, times: 2 }, [500, 500, null, null]],
  [{ status: 503, after: 1, times: 1 }, [null, 503, null, null]],
  [{ status: 403, method: "POST" }, [403, 403, 403, 403]],
  [{ status: 403, method: "GET" }, [null, null, null, null]],
  [{ status: 500, path: "*/dns_records" }, [500, 500, 500, 500]],
  [{ status: 500, path: "/client/v4/zones/*" }, [500, 500, 500, 500]],
  [{ status: 500, path: "/client/v4/zones" }, [null, null, null, null]],
  [{ status: 500, path: "/client.v4/*" }, [null, null, null, null]],
])("FaultPlan: %j", (fault, expected) => expect(outcomes(fault)).toEqual(expected));
