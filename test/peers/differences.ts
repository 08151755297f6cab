/** The intended differences between our answers and BIND's. Any other difference is a bug. */
import { isDeepStrictEqual } from "node:util";
import type { PrintedReply } from "./reply.ts";

interface Asked {
  readonly name: string;
  readonly type: string;
}

interface Difference {
  readonly reason: string;
  readonly explains: (asked: Asked, ours: PrintedReply, theirs: PrintedReply) => boolean;
}

/** Names are compared without case (RFC 4343). */
function inLowerCase(reply: PrintedReply): PrintedReply {
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

/** The reason of a difference; `null` when the difference is unexpected. */
export function expectedDifference(
  asked: Asked,
  ours: PrintedReply,
  theirs: PrintedReply,
): string | null {
  return differences.find(({ explains }) => explains(asked, ours, theirs))?.reason ?? null;
}

export const reasons: readonly string[] = differences.map(({ reason }) => reason);
