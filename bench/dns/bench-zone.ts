/** The zone of all benchmarked servers, and the queries for it. */
export const zoneName = "bench.example";

export function records(count: number): Record<string, unknown>[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `host-${index}`;
    switch (index % 10) {
      case 7:
        return { type: "AAAA", name, content: ipv6(index), ttl: 300 };
      case 8:
        return { type: "CNAME", name, content: `host-${index - 8}.${zoneName}`, ttl: 300 };
      case 9:
        return { type: "TXT", name, content: `"text of ${name}"`, ttl: 300 };
      default:
        return { type: "A", name, content: `192.0.2.${index % 256}`, ttl: 300 };
    }
  }).concat([{ type: "A", name: "*.wild", content: "192.0.2.1", ttl: 300 }]);
}

function ipv6(index: number): string {
  return `2001:db8::${(index >> 16).toString(16)}:${(index & 0xffff).toString(16)}`;
}

/** Names that do not exist: more than any cache of signatures holds. */
export function absentQueries(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `absent-${index}.${zoneName} A`);
}

/** Mostly existing names, some names that a wildcard covers, and some absent names. */
export function queries(count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    // Visits all names in another order than that of their creation.
    const index = (at * 7919) % count;
    if (index % 50 === 49) return `absent-${index}.${zoneName} A`;
    if (index % 50 === 48) return `x${index}.wild.${zoneName} A`;
    const type = { 7: "AAAA", 9: "TXT" }[index % 10] ?? "A";
    return `host-${index}.${zoneName} ${type}`;
  });
}
