/** An endless sequence of mutated queries. The same seed gives the same sequence. */
import { encode, type Packet } from "dns-packet";

/** The generator mulberry32. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const opt = {
  type: "OPT" as const,
  name: ".",
  udpPayloadSize: 1232,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: true,
  options: [{ code: 10, data: Buffer.from("0102030405060708", "hex") }],
};
const names = [
  "www.example.org",
  "alias.example.org",
  "text.example.org",
  "a.b.wild.example.org",
  "x.child.example.org",
  "absent.example.org",
  "elsewhere.example",
  ".",
];
const types = ["A", "AAAA", "TXT", "SOA", "NS", "ANY", "AXFR", "IXFR", "DS"] as const;

function seeds(): Buffer[] {
  return names.flatMap((name) =>
    types.flatMap((type) => {
      // dns-packet supports these types; its declarations lack some.
      const questions = [{ name, type: type as "A" }];
      const query: Packet = { type: "query", id: 1, flags: 256, questions };
      return [encode(query), encode({ ...query, additionals: [opt] } as Packet)];
    }),
  );
}

export function* mutations(seed: number): Generator<Buffer, never> {
  const next = random(seed);
  const below = (limit: number): number => Math.floor(next() * limit);
  const queries = seeds();
  for (let id = 0; ; id = (id + 1) & 0xffff) {
    let packet: Buffer = Buffer.from(queries[below(queries.length)]!);
    packet.writeUInt16BE(id);
    for (let times = below(4); times >= 0 && packet.length > 0; times--) {
      const at = below(packet.length);
      switch (below(8)) {
        case 0:
          packet[at]! ^= 1 << below(8);
          break;
        case 1:
          packet[at] = below(256);
          break;
        case 2:
          packet = packet.subarray(0, at);
          break;
        case 3:
          packet = Buffer.concat([packet, Buffer.alloc(below(40), below(256))]);
          break;
        case 4:
          // A compression pointer to a random offset: to itself, forwards, or into the header.
          packet[at] = 0xc0 | below(64);
          if (at + 1 < packet.length) packet[at + 1] = below(256);
          break;
        case 5:
          // Section counts that are too large.
          packet[4 + below(8)] = below(256);
          break;
        case 6:
          packet = Buffer.concat([packet.subarray(0, at), packet.subarray(below(packet.length))]);
          break;
        default:
          packet = Buffer.from(Array.from({ length: below(100) }, () => below(256)));
      }
    }
    yield packet;
  }
}
