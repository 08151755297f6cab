/**
 * The faults of queries and the log of queries (`src/dns/fault`), in the memory of this isolate: the
 * end of the process ends them. DNS over HTTPS answers here and observes its queries here; the
 * listeners get the faults with each change.
 */
import { ServedZones } from "../../src/dns/answer/served-zones.ts";
import { ArmedQueryFaults } from "../../src/dns/fault/armed-faults.ts";
import { ObservedQueries, type Observation } from "../../src/dns/fault/observed-queries.ts";
import { rulesOf, type QueryFault, type ServerReach } from "../../src/dns/fault/query-fault.ts";
import { mergeLogs, type LoggedQuery } from "../../src/dns/fault/query-log.ts";
import {
  logPath,
  observationPath,
  reachPath,
} from "../../src/dns/replication/listener-protocol.ts";
import { askListeners, changeHistory, isolateZones } from "../replication/replicas.ts";
import { indexObject } from "./index-object.ts";
import type { Env } from "./object-call.ts";
import { zoneObject } from "./zone-object.ts";
import { zoneTestSession } from "./zone-test-session.ts";

export const queryFaults = new ArmedQueryFaults();
/** The numbers of the log of a test, and of the log of a process that follows the queries. */
const logs: Record<"test" | "follower", number | null> = { test: null, follower: null };

export const observedQueries = new ObservedQueries({
  take: async (question) => queryFaults.take(question),
  wait: (milliseconds) => scheduler.wait(milliseconds),
  nowMilliseconds: Date.now,
  // The runtime's clocks have whole milliseconds.
  tickMilliseconds: Date.now,
});
isolateZones.onChange = (zones, zoneId, change) =>
  observedQueries.onZoneChange(zones, zoneId, change);

/** For faults that need no zones: loading all zones takes time and memory. */
const noZones = new ServedZones({ platformAddresses: [] });

export async function currentObservation(env: Env): Promise<Observation> {
  const history = await hiddenChanges(env);
  return {
    faults: queryFaults.served(),
    log: logs.test ?? logs.follower,
    startsEmpty: logs.test !== null,
    history,
  };
}

/** The changes that the longest delay hides. */
async function hiddenChanges(env: Env): Promise<Observation["history"]> {
  const delays = queryFaults.served().filter(({ kind }) => kind === "propagation_delay");
  if (delays.length === 0) return [];
  const longest = Math.max(...delays.map(({ milliseconds }) => milliseconds));
  return changeHistory.since(Date.now() - longest, (zoneId, serial) =>
    Promise.resolve(zoneObject(env, zoneId).changesSince(serial)),
  );
}

async function publish(env: Env): Promise<void> {
  const needsZones = queryFaults.served().some(({ kind }) => rulesOf(kind).needsZones);
  const zones = needsZones ? await loadZones(env) : noZones;
  const observation = await currentObservation(env);
  observedQueries.observe(observation, zones);
  await askListeners(env, observationPath, observation, undefined);
}

/** What queries of clients can reach: a fault for anything else is refused. */
export function serverReach(env: Env): Promise<ServerReach> {
  const none: ServerReach = { hosts: [], hasTls: false, secondaries: [] };
  // Listeners that start again do not answer at this moment.
  return askListeners(env, reachPath, null, none).catch(() => ({ ...none, hosts: null }));
}

/** The new faults belong to the innermost test. */
export async function addQueryFaults(env: Env, added: readonly QueryFault[]): Promise<void> {
  for (const fault of added) queryFaults.arm(fault, zoneTestSession.testLayer);
  await publish(env);
}

export async function replaceQueryFaults(env: Env, next: readonly QueryFault[]): Promise<void> {
  queryFaults.clear();
  await addQueryFaults(env, next);
}

/** Replaces faults that a connection holds. Returns the ids of the new faults. */
export async function holdQueryFaults(
  env: Env,
  released: readonly number[],
  next: readonly QueryFault[],
): Promise<number[]> {
  queryFaults.release(released);
  const ids = next.map((fault) => queryFaults.hold(fault));
  await publish(env);
  return ids;
}

/** Starts an empty log. */
export async function startQueryLog(env: Env, log: keyof typeof logs = "test"): Promise<void> {
  // The numbers grow, also over restarts of this worker.
  logs[log] = Math.max(Date.now(), (logs.test ?? 0) + 1, (logs.follower ?? 0) + 1);
  await publish(env);
}

export async function stopQueryLog(env: Env, log: keyof typeof logs): Promise<void> {
  if (logs[log] === null) return;
  logs[log] = null;
  await publish(env);
}

/** The queries of all servers; `null` without a log. */
export async function readQueryLog(env: Env): Promise<LoggedQuery[] | null> {
  return logs.test === null ? null : loggedQueries(env, 0);
}

/**
 * The queries since a time, from the log of a test or from a log that this function starts. Tests do
 * not notice.
 */
export async function followQueries(env: Env, sinceMilliseconds: number): Promise<LoggedQuery[]> {
  if (logs.follower === null) await startQueryLog(env, "follower");
  return loggedQueries(env, sinceMilliseconds);
}

/** The queries since a time, of a log or, without a log, of the last few. */
export async function loggedQueries(env: Env, sinceMilliseconds: number): Promise<LoggedQuery[]> {
  const none: readonly LoggedQuery[] = [];
  const ofListeners = await askListeners(env, logPath, sinceMilliseconds, none);
  return mergeLogs([observedQueries.logged(sinceMilliseconds), ofListeners]);
}

/** Ends the faults of a test layer. The log ends with the last layer. */
export async function leaveObservedLayer(env: Env, layer: number): Promise<void> {
  const isChanged = queryFaults.closeLayer(layer);
  if (zoneTestSession.layer === null) logs.test = null;
  else if (!isChanged) return;
  await publish(env);
}

export function loadZones(env: Env): Promise<ServedZones> {
  return isolateZones.load(env, async () => {
    const index = indexObject(env);
    await index.declareZones();
    const ids = await index.ids();
    await Promise.all(ids.map((id) => zoneObject(env, id).remember()));
  });
}
