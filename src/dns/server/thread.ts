/**
 * A listener thread: zones in its own memory, answered by itself. The first one leads: it takes
 * what the companion worker says and hands it to the others, and has the TCP connections. Its TCP
 * sockets share their port with nobody, which also keeps a second server from slipping in beside
 * ours where UDP sockets share it.
 *
 *     companion worker ── publications ──▶ lead ──▶ the other threads
 *                      ◀── "taken" by all ─┘
 */
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import type { Publication } from "../replication/publication.ts";
import { ExternalAddressCache } from "../answer/external-addresses.ts";
import { Responder } from "../answer/responder.ts";
import { ServedZones } from "../answer/served-zones.ts";
import { Answerer } from "./answerer.ts";
import { ExternalResolver } from "./external-resolver.ts";
import { bindAll, type BindOptions, type Binding } from "./ports.ts";
import { PublicationServer } from "./publication-server.ts";
import { Relay } from "./publication-relay.ts";
import { Replica } from "./replica.ts";
import { answerCalls } from "./thread-calls.ts";
import { hmac } from "./hmac.ts";
import type { TransferConfig } from "../../config/dns-transfers.ts";
import { Transfers } from "./transfers.ts";

export interface ThreadData {
  readonly secret: string;
  readonly platformAddresses: readonly string[];
  readonly resolvers: readonly string[];
  readonly cookieSecret: Uint8Array;
  readonly nsid: string;
  readonly transfers: TransferConfig;
  /** The others, for the lead; the lead, for the others. */
  readonly peers: readonly MessagePort[];
}

const data = workerData as ThreadData;
const zones = new ServedZones({ platformAddresses: data.platformAddresses });
const outside = new ExternalAddressCache();
const resolver = new ExternalResolver(data.resolvers);
const transfers = new Transfers({
  config: data.transfers,
  zones,
  outside,
  resolve: resolver.resolve,
});
const keys = new Map(data.transfers.keys.map((key) => [key.name, key]));
const responder = new Responder({
  zones,
  outside,
  transfers: true,
  tsig: { findKey: (name) => keys.get(name), hmac },
  cookieSecret: data.cookieSecret,
  nsid: new TextEncoder().encode(data.nsid),
  allocate: (length) => Buffer.allocUnsafe(length),
  onError: (error) => console.error("A DNS query could not be answered:", error),
});
const answerer = new Answerer({
  responder,
  outside,
  resolve: resolver.resolve,
  transfer: (wanted, asker) => transfers.serve(wanted, asker),
});
const replica = new Replica(zones, {
  secret: data.secret,
  changed: (zoneId, change) => transfers.changed(zoneId, change),
});
let server: PublicationServer | null = null;
let bound: Binding | null = null;

/** A zone that could not be fetched is fetched again at its next change. */
async function take(publications: readonly Publication[]): Promise<void> {
  try {
    await replica.take(publications);
  } catch (error) {
    console.error("A DNS listener could not load a zone:", error);
    throw error;
  }
}

/** What the main thread can ask of this one. */
const calls = {
  /** Starts to hear of changes, as the lead; the address to publish to. */
  async lead(): Promise<string> {
    const relay = new Relay(data.peers);
    server = new PublicationServer({
      secret: data.secret,
      resolve: resolver.resolve,
      take: async (publications) => {
        await Promise.all([take(publications), relay.send(publications)]);
      },
    });
    return (await server.start()).address;
  },

  follow(): void {
    for (const peer of data.peers) {
      Relay.receive(peer, take);
    }
  },

  load: (origin: string): Promise<void> => replica.start(origin),

  async bind(
    options: Omit<BindOptions, "answerer">,
  ): Promise<{ readonly hosts: readonly string[]; readonly port: number }> {
    bound = await bindAll({ ...options, answerer });
    return { hosts: bound.hosts, port: bound.port };
  },

  async stop(): Promise<void> {
    server?.stop();
    replica.stop();
    resolver.stop();
    transfers.stop();
    await bound?.close();
    for (const peer of data.peers) peer.close();
  },
};

export type ThreadCalls = typeof calls;
answerCalls(parentPort!, calls);
