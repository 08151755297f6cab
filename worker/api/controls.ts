/**
 * The test controls, outside of /client/v4: the API serves these paths before it looks for faults of
 * its own. Only credentials for all zones may use them.
 *
 *     /ledge/faults         faults of the record API: GET lists, PUT replaces, DELETE removes
 *     /ledge/query_faults   faults of queries: GET lists them with their counts, POST adds a fault, PUT
 *                           replaces all faults, DELETE removes them; a WebSocket holds faults of its own
 *     /ledge/queries        PUT starts an empty log of queries, GET lists the queries, DELETE ends the log;
 *                           GET ?since=MILLISECONDS lists the queries that were answered since then, and
 *                           needs no log: the servers keep their last few queries
 *     /ledge/dnssec_faults  broken signatures: GET lists, PUT replaces, DELETE removes. A fault names a
 *                           zone, for all its names, or a name:
 *                           { "faults": [{ "kind": "expired_signature", "name": "www.example.com" }] }
 *     /ledge/dnssec_rolls   the roll of a zone's keys: GET ?zone=NAME shows it, null when there is none; POST
 *                           { "zone", "keys", "pace_seconds" } starts one; PATCH { "zone", "ds_seen": true }
 *                           says that the parent has the DS record of the new key
 *     /ledge/activity       for a process that follows queries and calls (the explorer): GET
 *                           ?since=MILLISECONDS&after=ID lists the queries that were answered since then,
 *                           and the calls after that one; the first GET starts the logs, of which the log of
 *                           queries has the last queries before, too; DELETE ends them.
 *                           The log of queries of a test is independent.
 *
 * Every server of the zones has a change before the reply.
 */
import { fieldName } from "../../src/base/schema.ts";
import { parseFaults } from "../../src/dns/config/dns-config.ts";
import { signatureFaultKinds, type SignatureFault } from "../../src/dns/dnssec/zone-signing.ts";
import {
  QueryFaultError,
  refuseUnreachable,
  type QueryFault,
} from "../../src/dns/fault/query-fault.ts";
import type { LoggedQuery } from "../../src/dns/fault/query-log.ts";
import { readQueryFault } from "../../src/dns/fault/read-fault.ts";
import { problem, requireValid, ZoneError, type Problem } from "../../src/dns/record/problem.ts";
import { isDnsName } from "../../src/dns/record/record-name.ts";
import { FaultPlan } from "../../src/dns/rules/api-call.ts";
import { acceptRollRequest } from "../../src/dns/rules/dnssec-state.ts";
import { indexObject } from "../objects/index-object.ts";
import type { Env, ObjectReply } from "../objects/object-call.ts";
import {
  addQueryFaults,
  followQueries,
  holdQueryFaults,
  loggedQueries,
  queryFaults,
  readQueryLog,
  replaceQueryFaults,
  serverReach,
  startQueryLog,
  stopQueryLog,
} from "../objects/query-observation.ts";
import { zoneObject } from "../objects/zone-object.ts";
import { zoneTestSession } from "../objects/zone-test-session.ts";
import { requireAllZones, requireMethod, type Access } from "./access.ts";
import { findMethod, readJson, success } from "./api-call.ts";
import { callLog } from "./call-log.ts";

interface ControlCall {
  readonly request: Request;
  readonly parameters: URLSearchParams;
  readonly env: Env;
  readonly api: { faults: FaultPlan };
}

type Control = Readonly<Record<string, (call: ControlCall) => unknown>>;

const queryFaultPath = "/ledge/query_faults";

/** A list of faults that PUT replaces and DELETE empties. */
function faultList(
  list: (call: ControlCall) => unknown,
  replace: (call: ControlCall, faults: readonly unknown[]) => Promise<void> | void,
): Control {
  return {
    GET: list,
    async PUT(call) {
      await replace(call, acceptList((await readJson(call.request))["faults"]));
      return list(call);
    },
    async DELETE(call) {
      await replace(call, []);
      return list(call);
    },
  };
}

const controls: Readonly<Record<string, Control>> = {
  "/ledge/faults": faultList(
    ({ api }) => api.faults.faults,
    ({ api }, faults) => {
      api.faults = acceptFaultPlan(faults);
    },
  ),
  [queryFaultPath]: {
    ...faultList(
      () => queryFaults.list(),
      async ({ env }, faults) => replaceQueryFaults(env, await acceptQueryFaults(env, faults)),
    ),
    async POST({ request, env }) {
      await addQueryFaults(env, await acceptQueryFaults(env, [await readJson(request)]));
      return queryFaults.list();
    },
  },
  "/ledge/dnssec_faults": faultList(
    () => signatureFaults,
    ({ env }, faults) => replaceSignatureFaults(env, acceptSignatureFaults(faults)),
  ),
  "/ledge/dnssec_rolls": {
    GET: ({ parameters, env }) => rollOf(env, parameters.get("zone"), (zone) => zone.readRoll()),
    async POST({ request, env }) {
      const body = await readJson(request);
      const roll = requireValid((report) => acceptRollRequest(body, report));
      return rollOf(env, body["zone"], (zone) => zone.startRoll(roll));
    },
    async PATCH({ request, env }) {
      const { zone: name, ds_seen: isSeen } = await readJson(request);
      if (isSeen !== true) throw new ZoneError([problem.valueInvalid("ds_seen", "true")]);
      return rollOf(env, name, (zone) => zone.confirmDelegationSigner());
    },
  },
  "/ledge/queries": {
    async GET({ env, parameters }) {
      const since = parameters.get("since");
      const queries =
        since === null ? await readQueryLog(env) : await loggedQueries(env, acceptTime(since));
      if (queries === null) throw new ZoneError([problem.queryLogOff()]);
      return queries.map(describeQuery);
    },
    async PUT({ env }) {
      await startQueryLog(env);
      return [];
    },
    async DELETE({ env }) {
      await stopQueryLog(env, "test");
      return [];
    },
  },
  "/ledge/activity": {
    async GET({ parameters, env }) {
      const after = parameters.get("after");
      const { last, calls } = callLog.after(after === null ? null : Number(after));
      const queries = await followQueries(env, Number(parameters.get("since")));
      return { last, calls, queries };
    },
    async DELETE({ env }) {
      callLog.end();
      await stopQueryLog(env, "follower");
      return null;
    },
  },
};

/** The test control of isolation layers (`src/testing`), which only the endpoint for other processes serves. */
export const layersPath = "/ledge/layers";

/** Closes a layer, and opens another in the same call, or opens a layer. */
export interface LayerRequest {
  readonly open?: number;
  readonly close?: number;
  readonly next?: number;
  /** The opened layer is a snapshot inside a test. */
  readonly isSnapshot?: boolean;
}

export function isControlPath(path: string): boolean {
  return Object.hasOwn(controls, path);
}

export async function serveControl(
  path: string,
  access: Access,
  call: ControlCall,
): Promise<Response> {
  const { method, headers } = call.request;
  const isUpgrade = path === queryFaultPath && headers.get("upgrade") === "websocket";
  requireAllZones(access);
  requireMethod(access, isUpgrade ? "PUT" : method);
  if (isUpgrade) return serveHeldFaults(call.env);
  return success(JSON.stringify(await findMethod(controls[path]!, method)(call)));
}

function acceptList(faults: unknown): unknown[] {
  if (!Array.isArray(faults)) throw new ZoneError([problem.notAList("faults", "objects")]);
  return faults;
}

export function acceptFaultPlan(given: unknown): FaultPlan {
  const input = acceptList(given);
  const mistakes: string[] = [];
  const faults = parseFaults(input, (path, mistake) => {
    mistakes.push(`${fieldName(path)} ${mistake}`);
  });
  if (faults !== null) return new FaultPlan(faults);
  throw new ZoneError([problem.valueInvalid("faults", `valid: ${mistakes.join("; ")}`)]);
}

function acceptTime(text: string): number {
  if (/^\d{1,16}$/.test(text)) return Number(text);
  throw new ZoneError([problem.valueInvalid("since", "a number of milliseconds since 1970")]);
}

async function acceptQueryFaults(env: Env, input: readonly unknown[]): Promise<QueryFault[]> {
  try {
    return await readQueryFaults(env, input);
  } catch (error) {
    if (!(error instanceof QueryFaultError)) throw error;
    throw new ZoneError([problem.queryFaultInvalid(error.message)]);
  }
}

/** @throws QueryFaultError */
async function readQueryFaults(env: Env, input: readonly unknown[]): Promise<QueryFault[]> {
  const faults = input.map(readQueryFault);
  if (faults.length === 0) return [];
  const reach = await serverReach(env);
  for (const { target } of faults) refuseUnreachable(target, reach);
  return faults;
}

function describeQuery(logged: LoggedQuery): Record<string, unknown> {
  const { milliseconds, startedMilliseconds: started, client: _client, ...query } = logged;
  // Clocks have at most microseconds, and a clock can go back.
  const durationMilliseconds = Math.max(0, Math.round((milliseconds - started) * 1000) / 1000);
  return { time: new Date(milliseconds).toISOString(), ...query, durationMilliseconds };
}

/** A broken signature as tests give it: for a zone, or for a name. */
interface RequestedFault {
  readonly kind: SignatureFault["kind"];
  readonly zone?: string;
  readonly name?: string;
}

let signatureFaults: readonly RequestedFault[] = [];

export async function endSignatureFaults(env: Env): Promise<void> {
  if (signatureFaults.length > 0) await replaceSignatureFaults(env, []);
}

async function replaceSignatureFaults(env: Env, faults: readonly RequestedFault[]): Promise<void> {
  const byZone = new Map<string, SignatureFault[]>();
  for (const fault of faults) {
    const zoneId = await findZone(env, fault);
    const { kind, name = null } = fault;
    byZone.set(zoneId, [...(byZone.get(zoneId) ?? []), { kind, name }]);
  }
  signatureFaults = faults;
  const changed = zoneTestSession.replaceSignatureFaults(byZone);
  await Promise.all(changed.map((zoneId) => zoneObject(env, zoneId).advanceSerial()));
}

/** The DS set of a delegation is in the zone above the delegated name. */
async function findZone(env: Env, { kind, zone, name }: RequestedFault): Promise<string> {
  const place = zone ?? (kind === "missing_ds" ? name!.slice(name!.indexOf(".") + 1) : name!);
  const found = await indexObject(env).findFor(place);
  if (found !== null && (zone === undefined || found.name === zone)) return found.id;
  throw new ZoneError([problem.valueInvalid("faults", `for local zones: ${place} is in none`)]);
}

async function rollOf(
  env: Env,
  name: unknown,
  call: (zone: ReturnType<typeof zoneObject>) => Promise<ObjectReply>,
): Promise<unknown> {
  const text = typeof name === "string" ? name.toLowerCase().replace(/\.$/, "") : "";
  const zone = await indexObject(env).findFor(text);
  if (zone === null || zone.name !== text) {
    return refuse(problem.valueInvalid("zone", "the name of a zone of this server"));
  }
  const reply = await call(zoneObject(env, zone.id));
  if (!reply.ok) throw new ZoneError(reply.problems);
  return JSON.parse(reply.json) as unknown;
}

function refuse(found: Problem): never {
  throw new ZoneError([found]);
}

function acceptSignatureFaults(input: readonly unknown[]): RequestedFault[] {
  return input.map((each, index) => {
    const { kind, zone, name } = (each ?? {}) as Partial<Record<keyof RequestedFault, unknown>>;
    const field = `faults[${index}]`;
    const found = signatureFaultKinds.find((known) => known === kind);
    if (found === undefined) return refuse(problem.notOneOf(`${field}.kind`, signatureFaultKinds));
    const place = zone ?? name;
    const isOne = (zone === undefined) !== (name === undefined);
    if (!isOne || typeof place !== "string" || place === "") {
      return refuse(problem.valueInvalid(field, "for a zone or for a name, and not for both"));
    }
    const text = place.toLowerCase().replace(/\.$/, "");
    if (!isDnsName(text.replace(/^\*\./, ""))) {
      return refuse(problem.valueInvalid(field, "for a domain name"));
    }
    return zone === undefined ? { kind: found, name: text } : { kind: found, zone: text };
  });
}

/** RFC 6455, section 7.4.1: the other end has an unexpected problem. */
const internalErrorCode = 1011;

interface HoldRequest {
  readonly hold?: { readonly faults: readonly unknown[] } | null;
}

/**
 * A WebSocket that holds faults of queries: they are in force while the connection is open, so that a
 * process that is killed leaves no fault behind. The messages are JSON in bytes:
 *
 *     { "hold": { "faults": […] } }   replaces the faults of this connection; `null` ends them
 *     {}                              changes nothing
 *
 * The answer to each is `{ "hits": […] }`: the number of queries that each fault has hit. Faults that
 * this server refuses change nothing, and the answer is `{ "refused": "…" }`.
 *
 * @returns the response to the request for an upgrade
 */
function serveHeldFaults(env: Env): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  /** The ids of this connection's faults, by the JSON in which they were given. */
  let held = new Map<string, number>();
  let order: readonly string[] = [];
  let isEnded = false;

  /** A fault that stays goes on counting. */
  const replace = async (faults: readonly unknown[]): Promise<void> => {
    const read = await readQueryFaults(env, faults);
    const next = new Map(faults.map((given, index) => [JSON.stringify(given), read[index]!]));
    const added = [...next.keys()].filter((given) => !held.has(given));
    const released = [...held].filter(([given]) => !next.has(given)).map(([, id]) => id);
    const ids = await holdQueryFaults(
      env,
      released,
      added.map((given) => next.get(given)!),
    );
    for (const [index, given] of added.entries()) held.set(given, ids[index]!);
    held = new Map([...held].filter(([given]) => next.has(given)));
    order = faults.map((given) => JSON.stringify(given));
  };

  const send = (report: object): void =>
    server.send(new TextEncoder().encode(JSON.stringify(report)));

  const answer = async (data: ArrayBuffer): Promise<void> => {
    try {
      const { hold } = JSON.parse(new TextDecoder().decode(data)) as HoldRequest;
      if (isEnded) return;
      if (hold !== undefined) await replace(hold?.faults ?? []);
      const hits = order.map((given) => queryFaults.hitsOf(held.get(given)!));
      send({ hits });
    } catch (error) {
      if (error instanceof QueryFaultError) send({ refused: error.message });
      else server.close(internalErrorCode);
    }
  };

  let changes = Promise.resolve();
  const end = (): void => {
    if (isEnded) return;
    isEnded = true;
    changes = changes.then(() => replace([])).catch(() => {});
    server.close();
  };
  server.accept();
  server.binaryType = "arraybuffer";
  server.addEventListener("message", ({ data }) => {
    changes = changes.then(() => answer(data as ArrayBuffer));
  });
  server.addEventListener("close", end);
  server.addEventListener("error", end);
  return new Response(null, { status: 101, webSocket: client });
}
