/**
 * The validity of signatures. Time is divided into periods, and all signatures of a period have the
 * same window of two days, as long as that of the deployed service. So equal octets are signed once
 * in a period, by each thread with the same result, and no signature that is sent ends within 21
 * hours. Clocks of validators may be wrong by as much.
 */
const hourSeconds = 3600;
export const periodSeconds = 6 * hourSeconds;
const marginSeconds = 21 * hourSeconds;

export interface SignatureWindow {
  readonly inceptionSeconds: number;
  readonly expirationSeconds: number;
}

export function signaturePeriod(nowSeconds: number): number {
  return Math.floor(nowSeconds / periodSeconds);
}

export function signatureWindow(nowSeconds: number): SignatureWindow {
  const start = signaturePeriod(nowSeconds) * periodSeconds;
  return {
    inceptionSeconds: Math.max(0, start - marginSeconds),
    expirationSeconds: start + periodSeconds + marginSeconds,
  };
}

/** The window before the last: it has ended, whatever the time in the period. */
export function endedWindow(nowSeconds: number): SignatureWindow {
  const { inceptionSeconds, expirationSeconds } = signatureWindow(nowSeconds);
  const length = expirationSeconds - inceptionSeconds;
  return {
    inceptionSeconds: Math.max(0, inceptionSeconds - length),
    expirationSeconds: Math.max(0, expirationSeconds - length),
  };
}
