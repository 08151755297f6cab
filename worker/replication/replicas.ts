/**
 * The two replicas that answer queries from memory: the listeners in Node, for UDP and TCP, and this
 * isolate, for DNS over HTTPS.
 *
 * The commits of a zone are sent to the listeners before the call that made them returns: a client
 * that has the reply and then asks gets the new answer. A request leaves a Durable Object only once
 * the object's writes are on disk, so listeners never learn of a change that a crash could undo.
 * Unreachable listeners do not fail the write, which is committed already
 * (`src/dns/replication/publication.ts`).
 */
import type { ExternalResult, ResolveExternal } from "../../src/dns/answer/external-addresses.ts";
import { ServedZones } from "../../src/dns/answer/served-zones.ts";
import { readDnsConfig, type DnsVariables } from "../../src/dns/config/dns-config.ts";
import { ChangeHistory } from "../../src/dns/fault/change-history.ts";
import {
  externalPath,
  listenersOrigin,
  publicationPath,
  secretHeader,
} from "../../src/dns/replication/listener-protocol.ts";
import {
  applyPublication,
  PublicationQueue,
  zoneIdOf,
  type Publication,
} from "../../src/dns/replication/publication.ts";
import type { QueryCount } from "../../src/dns/rules/query-report.ts";
import type { ZoneChange, ZoneData } from "../../src/dns/rules/zone.ts";

export interface ListenersEnv {
  /** The server in the listeners' process. Absent when DNS is served by HTTP only. */
  readonly LISTENERS?: Fetcher;
  readonly LISTENERS_SECRET?: string;
}

/** Longer than a listener needs for the largest batch, so that a stuck listener blocks no write. */
const answerMillisecondsMax = 10_000;

/** The commits of one zone on their way to the listeners; `null` without listeners. */
export function publicationQueue(env: ListenersEnv): PublicationQueue | null {
  if (env.LISTENERS === undefined) return null;
  return new PublicationQueue({
    send(publications) {
      const signal = AbortSignal.timeout(answerMillisecondsMax);
      return askListeners(env, publicationPath, publications, undefined, signal);
    },
    wait: (milliseconds) => scheduler.wait(milliseconds),
    onLost: (error) =>
      console.error(`DNS listeners did not take a change: ${(error as Error).message}`),
  });
}

/** @param otherwise the answer without listeners, and the answer of a call that has no result */
export async function askListeners<Result>(
  { LISTENERS, LISTENERS_SECRET = "" }: ListenersEnv,
  path: string,
  body: unknown,
  otherwise: Result,
  signal: AbortSignal | null = null,
): Promise<Result> {
  if (LISTENERS === undefined) return otherwise;
  const headers = { [secretHeader]: LISTENERS_SECRET };
  const init = { method: "POST", headers, body: JSON.stringify(body), signal };
  const response = await LISTENERS.fetch(listenersOrigin + path, init);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.status === 204 ? otherwise : response.json();
}

/** workerd cannot query a resolver; the listeners' process can. */
export function resolveByListeners(env: ListenersEnv): ResolveExternal {
  return (question) =>
    askListeners<ExternalResult>(env, externalPath, question, "failed").catch(() => "failed");
}

/** The commits of all zones in this process. */
export const changeHistory = new ChangeHistory();

/** The numbers of queries that this isolate has answered; DNS over HTTPS sets `count`. */
export const isolateQueries: { count: () => readonly QueryCount[] } = { count: () => [] };

/**
 * The zones in the memory of this isolate. The zone objects run in the same isolate as the worker
 * that answers, and change this memory in the turn of their commit: it is never behind. It stays
 * empty, and costs nothing, until the first query of DNS over HTTPS.
 */
class IsolateZones {
  #zones: ServedZones | null = null;
  #loaded = false;
  /** Called after a zone was changed (with the change), replaced or removed (with `null`). */
  onChange: (zones: ServedZones, zoneId: string, change: ZoneChange | null) => void = () => {};

  /** @param fill makes every zone object `take` its state */
  async load(env: DnsVariables, fill: () => Promise<unknown>): Promise<ServedZones> {
    this.#zones ??= new ServedZones(readDnsConfig(env));
    // Concurrent first requests each load the zones: in workerd a request cannot await a promise
    // of another request.
    if (!this.#loaded) await fill();
    this.#loaded = true;
    return this.#zones;
  }

  /** Called by zone objects. `state` is called when the memory has missed a change. */
  take(publication: Publication, state: () => ZoneData): void {
    const zones = this.#zones;
    if (zones === null) return;
    const zoneId = zoneIdOf(publication);
    const before = zones.get(zoneId)?.serial;
    const isReloaded = applyPublication(zones, publication) === "reload";
    if (isReloaded) zones.put(state());
    if (zones.get(zoneId)?.serial === before) return;
    const isChange = !isReloaded && publication.kind === "change";
    this.onChange(zones, zoneId, isChange ? publication.change : null);
  }

  /** Called when a zone object starts. After a commit that failed, the memory is ahead of it. */
  check(id: string, serial: number, state: () => ZoneData): void {
    const zone = this.#zones?.get(id);
    if (this.#zones === null || zone === undefined || zone.serial === serial) return;
    this.#zones.put(state());
    this.onChange(this.#zones, id, null);
  }
}

export const isolateZones = new IsolateZones();
