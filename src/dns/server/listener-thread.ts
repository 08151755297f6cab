/**
 * The program of a listener thread, which answers queries from zones in its own memory. The first
 * thread also receives the publications of the companion worker and forwards them to the others,
 * and has the TCP connections. TCP sockets never share a port, so a second server on the same port
 * is detected even where UDP sockets share it.
 *
 *     companion worker ── publications ──▶ first thread ──▶ other threads
 *                      ◀── 204 when all threads applied them
 */
import { setTimeout as wait } from "node:timers/promises";
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import type { TransferConfig } from "../config/dns-table.ts";
import { ExternalAddressCache } from "../answer/external-addresses.ts";
import { Responder, type ResponderOptions } from "../answer/responder.ts";
import { ServedZones } from "../answer/served-zones.ts";
import type { Publication } from "../replication/publication.ts";
import { AnswerSigner } from "../dnssec/answer-signer.ts";
import { ObservedQueries } from "../fault/observed-queries.ts";
import type { FaultQuestion } from "../fault/query-fault.ts";
import { ExternalResolver } from "./external-resolver.ts";
import { hmac, nowSeconds } from "../client/message-signing.ts";
import { OutgoingTransfers } from "./outgoing-transfers.ts";
import {
  OtherThreads,
  startPublicationServer,
  type ForwardedCalls,
  type PublicationServer,
} from "./publication-server.ts";
import { QueryHandler } from "./query-handler.ts";
import { ReplicatedZones } from "./replicated-zones.ts";
import { signRecordSet } from "./sign-record-set.ts";
import { bindSockets, type BindOptions, type BoundSockets } from "./sockets.ts";
import { serveThreadCalls } from "./thread-calls.ts";

export interface ThreadData {
  readonly secret: string;
  readonly platformAddresses: readonly string[];
  readonly resolvers: readonly string[];
  readonly transfers: TransferConfig;
  /** In the first thread, ports to the others; in the others, the port to the first. */
  readonly forwardingPorts: readonly MessagePort[];
}

const data = workerData as ThreadData;
const zones = new ServedZones({ platformAddresses: data.platformAddresses });
const resolver = new ExternalResolver(data.resolvers);
const resolution = { external: new ExternalAddressCache(), resolve: resolver.resolve, nowSeconds };
const observed = new ObservedQueries({ take: takeFault, wait, nowMilliseconds: Date.now });
const transfers = new OutgoingTransfers({
  ...resolution,
  observed,
  config: data.transfers,
  zones,
  platformAddresses: data.platformAddresses,
  advanceSerial: (zoneId) => replicated.advanceSerial(zoneId),
  changesSince: (zoneId, serial) => replicated.changesSince(zoneId, serial),
});
const keys = new Map(data.transfers.keys.map((key) => [key.name, key]));
const responderOptions: Omit<ResponderOptions, "zones"> = {
  external: resolution.external,
  signer: new AnswerSigner({ sign: signRecordSet }),
  transfers: true,
  tsig: { findKey: (name) => keys.get(name), hmac },
  allocate: (length) => Buffer.allocUnsafe(length),
  onError: (error) => console.error("Cannot answer a DNS query:", error),
};
const responder = new Responder({ ...responderOptions, zones });
const pastResponders = new WeakMap<ServedZones, Responder>();
const handler = new QueryHandler({
  ...resolution,
  responder,
  transfer: (request, source) => transfers.serve(request, source),
  observation: { observed, responderFor },
});
const replicated: ReplicatedZones = new ReplicatedZones(zones, {
  secret: data.secret,
  onChange(zoneId, change) {
    observed.onZoneChange(zones, zoneId, change);
    transfers.onZoneChange(zoneId, change);
  },
});
/** Ports to other threads, for the end of this thread */
const ports: MessagePort[] = [...data.forwardingPorts];
/** In the first thread */
let others: OtherThreads | null = null;
let server: PublicationServer | null = null;
let sockets: BoundSockets | null = null;

/** A zone that cannot be fetched is fetched again at its next change. */
async function apply(publications: readonly Publication[]): Promise<void> {
  try {
    await replicated.apply(publications);
  } catch (error) {
    console.error("A DNS listener cannot load a zone:", error);
    throw error;
  }
}

/** A responder for the zones of a fault. It ends with these zones. */
function responderFor(past: ServedZones): Responder {
  const made = pastResponders.get(past) ?? new Responder({ ...responderOptions, zones: past });
  pastResponders.set(past, made);
  return made;
}

/** Without an answer of the companion worker the query is answered as ever. */
async function takeFault(question: FaultQuestion): Promise<number | null> {
  try {
    return await replicated.takeFault(question);
  } catch (error) {
    console.error("Cannot ask for the fault of a DNS query:", error);
    return null;
  }
}

/** Calls of the companion worker that concern every thread. */
const forwarded: ForwardedCalls = {
  apply,
  countQueries: () => responder.countQueries(),
  observe: (observation) => observed.observe(observation, zones),
  loggedQueries: (sinceMilliseconds) => observed.logged(sinceMilliseconds),
};

/** The calls that the main thread makes. */
const calls = {
  /** For the first thread. Returns the address of the publication server. */
  async receivePublications(port = 0): Promise<string> {
    const threads = new OtherThreads(data.forwardingPorts);
    others = threads;
    server = await startPublicationServer({
      port,
      secret: data.secret,
      resolve: resolver.resolve,
      apply: async (publications) => {
        await Promise.all([apply(publications), threads.apply(publications)]);
      },
      countQueries: async () => [...responder.countQueries(), ...(await threads.countQueries())],
      async observe(observation) {
        forwarded.observe(observation);
        await threads.observe(observation);
      },
      loggedQueries: async (sinceMilliseconds) => [
        ...observed.logged(sinceMilliseconds),
        ...(await threads.loggedQueries(sinceMilliseconds)),
      ],
    });
    return server.address;
  },

  /** For the other threads. */
  receiveForwarded(): void {
    for (const port of data.forwardingPorts) serveThreadCalls(port, forwarded);
  },

  /** For the other threads: the first thread has started again. */
  receiveFrom(port: MessagePort): void {
    ports.push(port);
    serveThreadCalls(port, forwarded);
  },

  /** For the first thread: another thread has started again. */
  forwardTo(port: MessagePort): void {
    ports.push(port);
    others?.add(port);
  },

  async load(origin: string): Promise<void> {
    await replicated.load(origin);
    observed.observe(await replicated.observation(), zones);
  },

  async bind(options: Omit<BindOptions, "handler">): Promise<Omit<BoundSockets, "close">> {
    sockets = await bindSockets({ ...options, handler });
    const { hosts, port } = sockets;
    return { hosts, port };
  },

  async stop(): Promise<void> {
    server?.stop();
    replicated.stop();
    resolver.stop();
    transfers.stop();
    await sockets?.close();
    for (const port of ports) port.close();
  },
};

export type ListenerThreadCalls = typeof calls;
serveThreadCalls(parentPort!, calls);
