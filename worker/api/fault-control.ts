/** The test control: GET shows the faults in force, PUT replaces them, DELETE ends them. */
import { parseFaults } from "../../src/config/dns-config.ts";
import { fieldName } from "../../src/config/source-position.ts";
import { FaultPlan, type Fault } from "../../src/dns/rules/api-fault.ts";
import { problem, ZoneError } from "../../src/dns/record/problem.ts";
import { requireAllZones, requireWriting, type Access } from "./access.ts";
import { readJson } from "./body.ts";
import { success } from "./envelope.ts";

/** Outside /client/v4, so that no fault can ever match it. */
export const faultControlPath = "/ledge/faults";

export interface Faulty {
  faults: FaultPlan;
}

export function acceptFaults(input: unknown): Fault[] {
  if (!Array.isArray(input)) throw new ZoneError([problem.notAList("faults", "objects")]);
  const mistakes: string[] = [];
  const faults = parseFaults(input, (path, mistake) => {
    mistakes.push(`${fieldName(path)} ${mistake}`);
  });
  if (faults !== null) return faults;
  throw new ZoneError([problem.valueInvalid("faults", `valid: ${mistakes.join("; ")}`)]);
}

export async function controlFaults(
  request: Request,
  access: Access,
  api: Faulty,
): Promise<Response> {
  requireAllZones(access);
  if (request.method !== "GET") requireWriting(access);
  if (request.method === "PUT") {
    const { faults } = await readJson(request);
    api.faults = new FaultPlan(acceptFaults(faults));
  } else if (request.method === "DELETE") {
    api.faults = new FaultPlan([]);
  } else if (request.method !== "GET") {
    throw new ZoneError([problem.methodNotAllowed(request.method)]);
  }
  return success(JSON.stringify(api.faults.faults));
}
