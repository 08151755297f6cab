/** The test control of faults: GET lists those in force, PUT replaces them, DELETE removes them. */
import { parseFaults } from "../../src/dns/config/dns-config.ts";
import { fieldName } from "../../src/base/schema.ts";
import { FaultPlan } from "../../src/dns/rules/api-fault.ts";
import { problem, ZoneError } from "../../src/dns/record/problem.ts";
import { requireControl, type Access } from "./access.ts";
import { readJson } from "./body.ts";
import { success } from "./envelope.ts";

/** Outside of /client/v4: the API serves this path before it looks for faults. */
export const faultControlPath = "/ledge/faults";

export function acceptFaultPlan(input: unknown): FaultPlan {
  if (!Array.isArray(input)) throw new ZoneError([problem.notAList("faults", "objects")]);
  const mistakes: string[] = [];
  const faults = parseFaults(input, (path, mistake) => {
    mistakes.push(`${fieldName(path)} ${mistake}`);
  });
  if (faults !== null) return new FaultPlan(faults);
  throw new ZoneError([problem.valueInvalid("faults", `valid: ${mistakes.join("; ")}`)]);
}

export async function controlFaults(
  request: Request,
  access: Access,
  api: { faults: FaultPlan },
): Promise<Response> {
  requireControl(access, request.method);
  if (request.method === "PUT") {
    api.faults = acceptFaultPlan((await readJson(request))["faults"]);
  } else if (request.method === "DELETE") {
    api.faults = new FaultPlan([]);
  } else if (request.method !== "GET") {
    throw new ZoneError([problem.methodNotAllowed(request.method)]);
  }
  return success(JSON.stringify(api.faults.faults));
}
