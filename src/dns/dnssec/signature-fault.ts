/**
 * Signatures that tests break on purpose. A fault is plain data that is published with its zone, so
 * every server of the zone gives the same broken answers.
 *
 *     expired_signature   the window of the signatures has ended
 *     wrong_signature     the signatures do not belong to the records
 *     missing_ds          the DS set of a delegation is left out, and no NSEC record denies it
 */
import { textKey, type NameKey } from "../wire/name-key.ts";

export const signatureFaultKinds = ["expired_signature", "wrong_signature", "missing_ds"] as const;
export type SignatureFaultKind = (typeof signatureFaultKinds)[number];

export interface SignatureFault {
  readonly kind: SignatureFaultKind;
  /** The owner of the sets; `null` for all names of the zone. */
  readonly name: string | null;
}

export function hasFault(
  faults: readonly SignatureFault[],
  kind: SignatureFaultKind,
  owner: NameKey,
): boolean {
  return faults.some(
    (fault) => fault.kind === kind && (fault.name === null || textKey(fault.name) === owner),
  );
}
