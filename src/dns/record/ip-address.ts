const decimalOctet = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const dottedQuad = new RegExp(`^${Array.from({ length: 4 }, () => decimalOctet).join("\\.")}$`);

/** A strict dotted quad (RFC 6943 section 3.1.1), as octets. */
export function parseIpv4(text: string): Uint8Array | null {
  const match = dottedQuad.exec(text);
  if (match === null) return null;
  return Uint8Array.of(Number(match[1]), Number(match[2]), Number(match[3]), Number(match[4]));
}

export function formatIpv4(bytes: Uint8Array): string {
  return bytes.join(".");
}

function parseGroups(text: string): number[] | null {
  if (text === "") return [];
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    if (index === parts.length - 1 && part.includes(".")) {
      const quad = parseIpv4(part);
      if (quad === null) return null;
      groups.push((quad[0]! << 8) | quad[1]!, (quad[2]! << 8) | quad[3]!);
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(part)) return null;
      groups.push(Number.parseInt(part, 16));
    }
  }
  return groups;
}

/** RFC 4291 section 2.2, as octets. */
export function parseIpv6(text: string): Uint8Array | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const head = parseGroups(halves[0]!);
  const tail = halves.length === 2 ? parseGroups(halves[1]!) : [];
  if (head === null || tail === null) return null;
  // A dotted quad is allowed only at the end of the address.
  if (halves.length === 2 && halves[0]!.includes(".")) return null;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const groups = [...head, ...Array.from({ length: missing }, () => 0), ...tail];
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

function formatGroups(groups: readonly number[]): string {
  return groups.map((group) => group.toString(16)).join(":");
}

/** RFC 5952. */
export function formatIpv6(bytes: Uint8Array): string {
  const groups: number[] = [];
  for (let index = 0; index < 16; index += 2) groups.push((bytes[index]! << 8) | bytes[index + 1]!);
  let start = -1;
  let length = 1;
  for (let from = 0; from < 8; from++) {
    let to = from;
    while (to < 8 && groups[to] === 0) to++;
    if (to - from > length) [start, length] = [from, to - from];
  }
  if (start < 0) return formatGroups(groups);
  return `${formatGroups(groups.slice(0, start))}::${formatGroups(groups.slice(start + length))}`;
}

/** RFC 4291 section 2.5.5.2: an IPv4 address in an IPv6 address follows these octets. */
const mappedPrefix = "0,0,0,0,0,0,0,0,0,0,255,255,";

/** Equal for texts of the same host: an IPv4 address, and the IPv6 address that it is mapped to. */
export function addressKey(text: string): string {
  const octets = (parseIpv4(text) ?? parseIpv6(text))?.join(",") ?? text;
  return octets.startsWith(mappedPrefix) ? octets.slice(mappedPrefix.length) : octets;
}

/** The octets of an address; of an IPv4 address that is mapped to IPv6, those of the IPv4 address. */
export function addressOctets(address: string): readonly number[] | null {
  if (parseIpv4(address) === null && parseIpv6(address) === null) return null;
  return addressKey(address).split(",").map(Number);
}

export function isLoopbackAddress(address: string): boolean {
  const octets = addressOctets(address);
  if (octets?.length === 4) return octets[0] === 127;
  return octets?.every((octet, index) => octet === Number(index === 15)) === true;
}
