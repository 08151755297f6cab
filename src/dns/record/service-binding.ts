import { problem, type ReportProblem } from "./problem.ts";
import { hostname } from "./field/hostname.ts";
import { integer } from "./field/integer.ts";
import { serviceParameters } from "./field/service-parameters.ts";

/** SVCB and HTTPS have the same rdata (RFC 9460 section 9). */
export const serviceBinding = {
  priority: integer(16),
  target: hostname({ rootAllowed: true }),
  value: serviceParameters,
};

/** Priority 0 is AliasMode, which carries no parameters (RFC 9460 section 2.4.2). */
export function checkAliasMode(
  rdata: { readonly priority: number; readonly value: string },
  _owner: string,
  report: ReportProblem,
): void {
  if (rdata.priority === 0 && rdata.value !== "") {
    report(problem.serviceParameter("priority 0 takes no parameters"));
  }
}
