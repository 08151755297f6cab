/** SOA serial arithmetic, RFC 1982 with SERIAL_BITS = 32. */
const MODULUS = 2 ** 32;
const HALF = 2 ** 31;

export function nextSerial(serial: number): number {
  return (serial + 1) % MODULUS;
}

/** Whether `later` comes after `earlier`; undefined distances (exactly half) are not later. */
export function isLaterSerial(later: number, earlier: number): boolean {
  const distance = (later - earlier + MODULUS) % MODULUS;
  return distance > 0 && distance < HALF;
}
