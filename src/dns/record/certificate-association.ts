import { problem, type ReportProblem } from "./problem.ts";
import { integer } from "./field/integer.ts";
import { hexadecimal } from "./field/octets.ts";

/** TLSA and SMIMEA have the same rdata (RFC 8162 section 2). */
export const certificateAssociation = {
  usage: integer(8),
  selector: integer(8),
  matching_type: integer(8),
  certificate: hexadecimal,
};

/** SHA-256 and SHA-512 (RFC 6698 section 2.1.3). */
const matchingBytes: Readonly<Record<number, number>> = { 1: 32, 2: 64 };

export function checkMatchingLength(
  rdata: { readonly matching_type: number; readonly certificate: string },
  _owner: string,
  report: ReportProblem,
): void {
  const bytes = matchingBytes[rdata.matching_type];
  if (bytes !== undefined && rdata.certificate.length !== bytes * 2) {
    report(problem.octetLength("certificate", bytes));
  }
}
