import { problem } from "./problem.ts";
import { hostname } from "./field/hostname.ts";
import { integer } from "./field/integer.ts";
import { serviceParameters } from "./field/service-parameters.ts";
import { defineRecordType } from "./record-type.ts";

/** SVCB and HTTPS have the same rdata (RFC 9460 section 9). */
export function serviceBinding(type: string, code: number) {
  return defineRecordType({
    type,
    code,
    shape: "data",
    fields: {
      priority: integer(16),
      target: hostname({ rootAllowed: true }),
      value: serviceParameters,
    },
    check({ priority, value }, report) {
      // Priority 0 is AliasMode, which carries no parameters (RFC 9460 section 2.4.2).
      if (priority === 0 && value !== "") {
        report(problem.serviceParameter("priority 0 takes no parameters"));
      }
    },
  });
}

/** RFC 9460 section 2. */
export const svcb = serviceBinding("SVCB", 64);
