/** The faults that `--fault` gives to a dev server. */
import { parseFaultSpec } from "../config/fault-spec.ts";

/** @throws UserError that quotes the text of a fault that is none */
export function hasQueryFaults(specs: readonly string[] = []): boolean {
  const parsed = specs.map((spec) => parseFaultSpec(spec));
  return parsed.some(({ subject }) => subject === "dns");
}
