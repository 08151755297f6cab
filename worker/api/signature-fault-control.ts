/**
 * The test control of broken signatures: GET lists those in force, PUT replaces them, DELETE removes
 * them. A fault names a zone, for all its names, or a name:
 *
 *     { "faults": [{ "kind": "expired_signature", "name": "www.example.com" }] }
 *
 * The zones are published with the faults before the reply, as with every change.
 */
import { signatureFaultKinds, type SignatureFault } from "../../src/dns/dnssec/zone-signing.ts";
import { isDnsName } from "../../src/dns/record/record-name.ts";
import { problem, ZoneError } from "../../src/dns/record/problem.ts";
import type { Env } from "../objects/environment.ts";
import { indexObject } from "../objects/index-object.ts";
import { signatureFaults } from "../objects/signature-faults.ts";
import { zoneObject } from "../objects/zone-object.ts";
import { requireControl, type Access } from "./access.ts";
import { readJson } from "./body.ts";
import { success } from "./envelope.ts";

export const signatureFaultPath = "/ledge/dnssec_faults";

/** A fault as tests give it: for a zone, or for a name. */
interface RequestedFault {
  readonly kind: SignatureFault["kind"];
  readonly zone?: string;
  readonly name?: string;
}

let inForce: readonly RequestedFault[] = [];

export async function controlSignatureFaults(
  request: Request,
  access: Access,
  env: Env,
): Promise<Response> {
  const { method } = request;
  requireControl(access, method);
  if (method === "PUT") {
    const body = await readJson(request);
    await replaceSignatureFaults(env, acceptFaults(body["faults"]));
  } else if (method === "DELETE") {
    await replaceSignatureFaults(env, []);
  } else if (method !== "GET") {
    throw new ZoneError([problem.methodNotAllowed(method)]);
  }
  return success(JSON.stringify(inForce));
}

export async function endSignatureFaults(env: Env): Promise<void> {
  if (inForce.length > 0) await replaceSignatureFaults(env, []);
}

async function replaceSignatureFaults(env: Env, faults: readonly RequestedFault[]): Promise<void> {
  const byZone = new Map<string, SignatureFault[]>();
  for (const fault of faults) {
    const zoneId = await findZone(env, fault);
    const { kind, name = null } = fault;
    byZone.set(zoneId, [...(byZone.get(zoneId) ?? []), { kind, name }]);
  }
  inForce = faults;
  const changed = signatureFaults.replace(byZone);
  await Promise.all(changed.map((zoneId) => zoneObject(env, zoneId).republish()));
}

/** The DS set of a delegation is in the zone above the delegated name. */
async function findZone(env: Env, { kind, zone, name }: RequestedFault): Promise<string> {
  const place = zone ?? (kind === "missing_ds" ? name!.slice(name!.indexOf(".") + 1) : name!);
  const found = await indexObject(env).findFor(place);
  if (found !== null && (zone === undefined || found.name === zone)) return found.id;
  throw new ZoneError([problem.valueInvalid("faults", `for local zones: ${place} is in none`)]);
}

function acceptFaults(input: unknown): RequestedFault[] {
  if (!Array.isArray(input)) throw new ZoneError([problem.notAList("faults", "objects")]);
  return input.map((each: unknown, index) => {
    const { kind, zone, name } = (each ?? {}) as Partial<Record<keyof RequestedFault, unknown>>;
    const field = `faults[${index}]`;
    const found = signatureFaultKinds.find((known) => known === kind);
    if (found === undefined) {
      throw new ZoneError([problem.notOneOf(`${field}.kind`, signatureFaultKinds)]);
    }
    const place = zone ?? name;
    if (
      (zone === undefined) === (name === undefined) ||
      typeof place !== "string" ||
      place === ""
    ) {
      throw new ZoneError([
        problem.valueInvalid(field, "for a zone or for a name, and not for both"),
      ]);
    }
    const text = place.toLowerCase().replace(/\.$/, "");
    if (!isDnsName(text.replace(/^\*\./, "")))
      throw new ZoneError([problem.valueInvalid(field, "for a domain name")]);
    return { kind: found, ...(zone === undefined ? { name: text } : { zone: text }) };
  });
}
