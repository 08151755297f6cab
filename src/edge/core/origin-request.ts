/**
 * The edge worker hands a request for an origin to the origin server in Node (`node/origin-server.ts`), as the
 * request is, with a header that says where the request leads.
 *
 * A request that comes back to an edge is a loop (RFC 8586): each passage through the origin server counts, in the
 * header that the deployed platform sends to origins.
 */
import type { Origin } from "./destination.ts";
import type { EdgeRecord } from "./edge-table.ts";

export interface OriginOrder {
  /** Of the client's URL, without a port: the `Host` of the request, and the name in the certificate. */
  readonly host: string;
  readonly protocol: "http" | "https";
  readonly record: EdgeRecord;
  /** To try in this order. */
  readonly origins: readonly Origin[];
}

export const originHeader = "ledge-origin";

/** The headers that the edge worker sets. Names in records are ASCII. */
export function originHeaders(order: OriginOrder): Record<string, string> {
  return { [originHeader]: JSON.stringify(order) };
}

export function parseOriginOrder(value: unknown): OriginOrder | null {
  return typeof value === "string" ? (JSON.parse(value) as OriginOrder) : null;
}

/** A request that has passed this many times is in a circle. */
export const passagesMax = 8;
const cdnId = "cloudflare";

/** How often the request has passed an edge, by its `CDN-Loop`. */
export function countPassages(header: string): number {
  const counts = entries(header)
    .filter(isOwn)
    .map((entry) => Number(/;\s*loops=(\d+)/i.exec(entry)?.[1] ?? 1));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The header of the request behind this edge. Entries of others stay. */
export function addPassage(header: string): string {
  const others = entries(header).filter((entry) => !isOwn(entry));
  return [...others, `${cdnId}; loops=${countPassages(header) + 1}`].join(", ");
}

function entries(header: string): string[] {
  return header.split(",").flatMap((entry) => entry.trim() || []);
}

function isOwn(entry: string): boolean {
  return (entry.split(";", 1)[0] as string).trim().toLowerCase() === cdnId;
}
