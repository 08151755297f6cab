/**
 * Faults that tests inject into queries: which queries a fault matches, and what happens to them.
 *
 * A fault is plain data (`read-fault.ts` reads it):
 *
 *     drop               no response
 *     delay              the response comes later
 *     servfail, refused, formerr, notimp
 *                        an error, without records
 *     nxdomain, nodata   the name does not exist, or has no records of the type: with the zone's SOA
 *     no_edns            the server does not know EDNS: a query with OPT gets FORMERR without OPT
 *     answer             other records than those of the zone
 *     ttl                the response with another TTL
 *     malformed          octets that cannot be parsed
 *     truncate           over UDP: TC, without records
 *     wrong_id           the response has another identifier than the query
 *     other_port         over UDP: the response comes from another port
 *     tcp_reset          over TCP and TLS: the connection is reset
 *     lame               the server does not know the zone: no AA, no records, no error
 *     stale              the answer from the zones as they were when the fault was set
 *     propagation_delay  the answer from the zones as they were some time ago
 *     lost_notify        a NOTIFY message is not sent
 */
import type { Duration } from "../../base/format.ts";
import {
  matchesPattern,
  toPlainPattern,
  type FaultScheduleOptions,
} from "../../base/fault-schedule.ts";
import { addressKey } from "../record/ip-address.ts";
import { isAtOrBelow, textKey } from "../wire/name.ts";

export const transports = ["udp", "tcp", "tls", "https"] as const;
type Transport = (typeof transports)[number];

interface KindRules {
  /** The transports on which the kind has an effect. */
  readonly transports?: readonly (Transport | "notify")[];
  /** The longest `by`, which the kind needs. */
  readonly millisecondsMax?: number;
  /** Whether the field `ttl` is needed; without it, the kind has no such field. */
  readonly ttl?: "needed" | "optional";
  /** Transfers have the zones as they are, and a secondary never follows a fault into the past. */
  readonly sparesTransfers?: true;
  /** Whether servers need all zones to make the response. */
  readonly needsZones?: true;
}

const day = 86_400_000;

const kinds = {
  drop: {},
  /** As of the record API: clients of the binding wait for 90 seconds. */
  delay: { millisecondsMax: 60_000 },
  servfail: {},
  refused: {},
  formerr: {},
  notimp: {},
  nxdomain: { needsZones: true },
  nodata: { needsZones: true },
  no_edns: {},
  answer: { ttl: "optional" },
  ttl: { ttl: "needed", sparesTransfers: true },
  malformed: {},
  truncate: { transports: ["udp"] },
  // HTTP knows by itself which answer belongs to which query.
  wrong_id: { transports: ["udp", "tcp", "tls"] },
  other_port: { transports: ["udp"] },
  tcp_reset: { transports: ["tcp", "tls"] },
  lame: {},
  stale: { needsZones: true, sparesTransfers: true },
  propagation_delay: { needsZones: true, sparesTransfers: true, millisecondsMax: 30 * day },
  lost_notify: { transports: ["notify"] },
} as const satisfies Readonly<Record<string, KindRules>>;

export type QueryFaultKind = keyof typeof kinds;
export const queryFaultKinds = Object.keys(kinds) as QueryFaultKind[];

export function rulesOf(kind: QueryFaultKind): KindRules {
  return kinds[kind];
}

/** What faults are matched with. A NOTIFY message is a question for the SOA of its zone. */
export interface FaultQuestion {
  /** In lower case, without the final dot */
  readonly name: string;
  readonly type: string;
  readonly transport: Transport | "notify";
  /** The address of this server that was asked; for NOTIFY, the address of the secondary */
  readonly server: string | null;
  /** The largest UDP response that the client accepts; `null` without EDNS */
  readonly ednsSize: number | null;
}

/** The part of a fault that servers need. `null`: any. */
export interface FaultTarget {
  readonly kind: QueryFaultKind;
  /** A name in which `*` stands for any characters */
  readonly name: string | null;
  /** The names at and below this name */
  readonly zone: string | null;
  readonly types: readonly string[] | null;
  readonly transport: Transport | null;
  readonly server: string | null;
  /** Of delays: 0 in other faults */
  readonly milliseconds: number;
  /** `null`: as the zone has it */
  readonly ttlSeconds: number | null;
  /** Of `answer`: the data of its records, in hexadecimal */
  readonly data: readonly string[];
}

/** A fault, with the queries that it hits among those that it matches. */
export interface QueryFault extends Required<FaultScheduleOptions> {
  readonly target: FaultTarget;
  readonly given: QueryFaultInput;
}

/** A fault as servers have it. */
export interface ServedFault extends FaultTarget {
  readonly id: number;
}

export interface QueryFaultInput {
  kind: QueryFaultKind;
  name?: string;
  zone?: string;
  type?: string | readonly string[];
  transport?: Transport;
  server?: string;
  by?: Duration;
  ttl?: number;
  content?: string | readonly string[];
  nth?: number;
  times?: number;
  probability?: number;
  seed?: number;
}

export class QueryFaultError extends Error {
  override name = "QueryFaultError";
}

export const transferTypes: ReadonlySet<string> = new Set(["AXFR", "IXFR"]);

export function matchesQuestion(fault: FaultTarget, question: FaultQuestion): boolean {
  const { kind, name, zone, types, transport, server } = fault;
  const rules = rulesOf(kind);
  if (!(rules.transports ?? transports).some((each) => each === question.transport)) return false;
  if (rules.sparesTransfers === true && transferTypes.has(question.type)) return false;
  if (kind === "no_edns" && question.ednsSize === null) return false;
  if (types !== null && !types.includes(question.type)) return false;
  if (transport !== null && transport !== question.transport) return false;
  if (server !== null && !isSameHost(server, question.server)) return false;
  if (zone !== null && !isAtOrBelow(textKey(question.name), textKey(zone))) return false;
  return name === null || matchesPattern(toPlainPattern(name), question.name);
}

function isSameHost(one: string, other: string | null): boolean {
  return other !== null && addressKey(one) === addressKey(other);
}

/** Whether the fault answers from earlier zones. */
export function isOfPast(kind: QueryFaultKind): boolean {
  return kind === "stale" || kind === "propagation_delay";
}

/** What clients and secondaries of a server can meet. */
export interface ServerReach {
  /** The addresses of its listeners; none without listeners, `null` while they start */
  readonly hosts: readonly string[] | null;
  /** Whether the listeners serve TLS */
  readonly hasTls: boolean;
  /** The addresses that NOTIFY messages are sent to */
  readonly secondaries: readonly string[];
}

/**
 * Refuses a fault that can hit no query of this server.
 *
 * @throws QueryFaultError
 */
export function refuseUnreachable(
  { kind, transport, server }: FaultTarget,
  { hosts, hasTls, secondaries }: ServerReach,
): void {
  const rules = rulesOf(kind);
  const known = kind === "lost_notify" ? secondaries : hosts;
  if (hosts === null || known === null) return;
  const needed = transport === null ? rules.transports : [transport];
  if (hosts.length === 0 && (server !== null || needed?.includes("https") === false)) {
    throw new QueryFaultError(
      `${transport === null ? `"${kind}"` : `"transport": "${transport}"`} has no effect here: ` +
        "this server has no listeners, and answers over https only.",
    );
  }
  if (kind === "lost_notify" && secondaries.length === 0) {
    throw new QueryFaultError(
      '"lost_notify" has no effect here: this server has no secondaries ("notify" of [dns.transfers]).',
    );
  }
  if (transport === "tls" && !hasTls) {
    throw new QueryFaultError(
      '"transport" is "tls", and this server has no DNS over TLS: set tls_port of [dns].',
    );
  }
  if (server === null || known.some((each) => isSameHost(server, each))) return;
  const what = kind === "lost_notify" ? "no secondary" : "no address";
  throw new QueryFaultError(
    `"server" is "${server}", which is ${what} of this server. Use ${known.join(" or ")}.`,
  );
}
