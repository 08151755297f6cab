/** RFC 4034 appendix B, for every algorithm but 1. @param data the data of a DNSKEY record */
export function keyTag(data: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < data.length; at++) sum += at % 2 === 0 ? data[at]! << 8 : data[at]!;
  return (sum + (sum >>> 16)) & 0xffff;
}
