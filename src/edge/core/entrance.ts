/**
 * How a process of this user hands a request to a dev server, for another host and protocol than those of the
 * connection: the https port, a proxy, or another dev server of the folder. The dev server believes the header
 * only with its token, which is in the state folder.
 */
import type { EdgeMember } from "./edge-table.ts";

export const entranceHeader = "ledge-entrance";

/** A request that dev servers and origins hand around more often comes back to where it began. */
export const hopsMax = 8;

export interface Entrance {
  /** `https://photos.example.com`, with the port if the client has named one. */
  readonly origin: string;
  /** How often a dev server has handed the request on. */
  readonly hops: number;
}

/** The headers for a request to `member.url`. Its path and all other headers are those of the client. */
export function entranceHeaders(
  { token }: Pick<EdgeMember, "token">,
  origin: string,
  hops = 0,
): Record<string, string> {
  return { [entranceHeader]: `${token} ${origin} ${hops}` };
}

/** @returns `null` for a value that no process of this user has written */
export function parseEntrance(value: string, token: string): Entrance | null {
  const [given, origin = "", hops] = value.split(" ");
  if (given !== token || !/^https?:\/\/[^/?#@\s]+$/.test(origin)) return null;
  return { origin, hops: Number(hops) };
}
