/**
 * The program of the listener thread, which answers UDP, TCP and TLS from zones in its own memory:
 *
 *     companion worker ── publications ──▶ this thread
 *                      ◀── 204 when queries are answered from them
 */
import { setTimeout as wait } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { ExternalAddressCache, type ExternalQuestion } from "../answer/external-addresses.ts";
import { Responder, type ResponderOptions } from "../answer/responder.ts";
import { ServedZones } from "../answer/served-zones.ts";
import { hmac, nowSeconds } from "../client/fetch-zone.ts";
import type { ServerIdentity } from "../../tls/authority.ts";
import type { TransferConfig } from "../config/dns-table.ts";
import { AnswerSigner } from "../dnssec/answer-signer.ts";
import { ObservedQueries, type Observation } from "../fault/observed-queries.ts";
import type { ServerReach } from "../fault/query-fault.ts";
import {
  externalPath,
  logPath,
  observationPath,
  publicationPath,
  queriesPath,
  reachPath,
} from "../replication/listener-protocol.ts";
import type { Publication } from "../replication/publication.ts";
import { catalogId } from "../rules/catalog.ts";
import { typeCodes } from "../wire/numbers.ts";
import { OutgoingTransfers } from "./outgoing-transfers.ts";
import { makeExternalResolver, makeQueryHandler, signRecordSet } from "./query-handler.ts";
import { ReplicatedZones, startPublicationServer } from "./replicated-zones.ts";
import { bindSockets, type BindOptions, type OpenPorts, type OpenSockets } from "./sockets.ts";

export interface ThreadData {
  readonly secret: string;
  readonly platformAddresses: readonly string[];
  readonly resolvers: readonly string[];
  readonly transfers: TransferConfig;
}

const data = workerData as ThreadData;
const zones = new ServedZones({ platformAddresses: data.platformAddresses });
const resolver = makeExternalResolver(data.resolvers);
const resolution = { external: new ExternalAddressCache(), resolve: resolver.resolve, nowSeconds };
const observed = new ObservedQueries({
  /** Without an answer of the companion worker the query is answered as ever. */
  take: (question) =>
    replicated.takeFault(question).catch((error: unknown) => {
      console.error("Cannot ask for the fault of a DNS query:", error);
      return null;
    }),
  wait,
  nowMilliseconds: Date.now,
  tickMilliseconds: () => performance.now(),
});
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
  mayTransfer: (query) => transfers.mayTransfer(query),
  onZoneQuery: (query) => transfers.asked(query),
  tsig: { findKey: (name) => keys.get(name), hmac },
  allocate: (length) => Buffer.allocUnsafe(length),
  onError: (error) => console.error("Cannot answer a DNS query:", error),
};
const responder = new Responder({ ...responderOptions, zones });
const pastResponders = new WeakMap<ServedZones, Responder>();
const handle = makeQueryHandler({
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
let server: Awaited<ReturnType<typeof startPublicationServer>> | null = null;
/** Of UDP with TCP, and of TLS. */
const sockets: OpenSockets[] = [];
let hasTls = false;

/** A responder for the zones of a fault. It ends with these zones. */
function responderFor(past: ServedZones): Responder {
  const made = pastResponders.get(past) ?? new Responder({ ...responderOptions, zones: past });
  pastResponders.set(past, made);
  return made;
}

/** The record API refuses the name of the catalog, but the zone may be older than the catalog. */
function requireFreeCatalog(): void {
  const catalog = zones.get(catalogId);
  const other = catalog && zones.findFor(catalog.apexKey, typeCodes.SOA);
  if (catalog === undefined || other?.apexKey !== catalog.apexKey) return;
  const message =
    `The zone ${catalog.name} exists, so it cannot be the catalog: choose another name for catalog in ` +
    `[dns.transfers], or delete the zone first (ledge dns zones --delete ${catalog.name}).`;
  throw Object.assign(new Error(message), { code: "EEXIST" });
}

const workerCalls = {
  /** A zone that cannot be fetched is fetched again at its next change. */
  [publicationPath]: (publications: readonly Publication[]) =>
    replicated.apply(publications).catch((error: unknown) => {
      console.error("A DNS listener cannot load a zone:", error);
      throw error;
    }),
  [queriesPath]: () => responder.countQueries(),
  [observationPath]: (observation: Observation) => observed.observe(observation, zones),
  [logPath]: (sinceMilliseconds: number) => observed.logged(sinceMilliseconds),
  [reachPath]: (): ServerReach => ({
    hosts: sockets[0]?.hosts ?? null,
    hasTls,
    secondaries: data.transfers.secondaries.map(({ host }) => host),
  }),
  [externalPath]: (question: ExternalQuestion) => resolver.resolve(question),
};

/** The calls of the main thread, which makes the next call when it has the reply. */
const calls = {
  async receivePublications(port: number): Promise<string> {
    server = await startPublicationServer({ port, secret: data.secret, calls: workerCalls });
    return server.address;
  },

  async load(origin: string): Promise<void> {
    await replicated.load(origin);
    requireFreeCatalog();
    observed.observe(await replicated.observation(), zones);
  },

  /** The companion worker has started again. */
  reload(origin: string): Promise<void> {
    return replicated.load(origin);
  },

  async bind(options: BindOptions): Promise<OpenPorts> {
    const opened = await bindSockets(options, handle);
    sockets.push(opened);
    hasTls ||= options.identity !== undefined;
    // Secondaries that are notified ask over UDP and TCP, whose port is bound first.
    if (options.identity === undefined) transfers.start();
    const { hosts, port } = opened;
    return { hosts, port };
  },

  async renew(identity: ServerIdentity): Promise<void> {
    for (const opened of sockets) opened.renew(identity);
  },

  async stop(): Promise<void> {
    server?.stop();
    replicated.stop();
    resolver.stop();
    transfers.stop();
    await Promise.all(sockets.map((opened) => opened.close()));
  },
};

export type ThreadCalls = typeof calls;

export interface ThreadCall {
  readonly method: keyof ThreadCalls;
  readonly argument: never;
}

export type ThreadReply =
  | { readonly result: unknown }
  | { readonly error: { readonly message: string; readonly code: string | undefined } };

parentPort!.on("message", async ({ method, argument }: ThreadCall) => {
  let reply: ThreadReply;
  try {
    reply = { result: await calls[method](argument) };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    reply = { error: { message, code } };
  }
  parentPort!.postMessage(reply, []);
});
