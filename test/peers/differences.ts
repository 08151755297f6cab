/** Where our answers differ from BIND's on purpose. Anything else is a mistake of one of us. */
import { isDeepStrictEqual } from "node:util";
import type { Reply } from "./reply.ts";

interface Asked {
  readonly name: string;
  readonly type: string;
}

interface Difference {
  readonly reason: string;
  readonly explains: (asked: Asked, ours: Reply, theirs: Reply) => boolean;
}

/** Names are equal whatever their case (RFC 4343). */
function inLowerCase(reply: Reply): Reply {
  return { ...reply, answer: ownersInLowerCase(reply.answer) };
}

function ownersInLowerCase(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/^\S+/, (owner) => owner.toLowerCase())).sort();
}

const differences: readonly Difference[] = [
  {
    reason: "ANY gets one record that says so (RFC 8482); BIND gives everything",
    explains: ({ type }, ours, theirs) =>
      type === "ANY" &&
      ours.status === theirs.status &&
      ours.answer.every((line) => line.includes('HINFO "RFC8482"')),
  },
  {
    reason: "names come back in the case in which they were asked for; BIND gives the zone's",
    explains: ({ name }, ours, theirs) =>
      name !== name.toLowerCase() && isDeepStrictEqual(inLowerCase(ours), inLowerCase(theirs)),
  },
];

/** The reason, or `null` when there is none. */
export function expectedDifference(asked: Asked, ours: Reply, theirs: Reply): string | null {
  return differences.find(({ explains }) => explains(asked, ours, theirs))?.reason ?? null;
}

export const reasons: readonly string[] = differences.map(({ reason }) => reason);
