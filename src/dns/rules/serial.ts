/** SOA serial arithmetic, RFC 1982 with SERIAL_BITS = 32. */
const modulus = 2 ** 32;
const half = 2 ** 31;

export function nextSerial(serial: number): number {
  return (serial + 1) % modulus;
}

/** Whether `later` comes after `earlier`; undefined distances (exactly half) are not later. */
export function isLaterSerial(later: number, earlier: number): boolean {
  const distance = (later - earlier + modulus) % modulus;
  return distance > 0 && distance < half;
}
