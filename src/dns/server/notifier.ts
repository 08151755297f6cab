/**
 * NOTIFY (RFC 1996): tells secondaries that a zone has a new serial. For each secondary and zone at
 * most one is on its way; what changes meanwhile is told by the next. One that is not acknowledged
 * is sent again, more and more seldom, and then given up: the secondary asks by itself, too.
 */
import { randomInt } from "node:crypto";
import { createSocket, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import { blankMessage, decodeMessage, encodeMessage, type Message } from "../wire/message.ts";
import { classCodes, opcodes, typeCodes } from "../wire/numbers.ts";
import { signMessage } from "../wire/tsig-mac.ts";
import type { ServedZone } from "../answer/served-zone.ts";
import type { Secondary } from "../../config/dns-transfers.ts";
import { hmac } from "./hmac.ts";

export interface NotifierOptions {
  readonly secondaries: readonly Secondary[];
  /** As it is now; `undefined` when it is gone. */
  readonly zone: (zoneId: string) => Pick<ServedZone, "name" | "soa"> | undefined;
}

/** RFC 1996 section 3.6 speaks of five tries and a minute; on one machine the first is quicker. */
const waitsMilliseconds = [500, 2000, 5000, 15_000, 60_000];
const messageBytesMax = 512;

interface Telling {
  readonly secondary: Secondary;
  readonly zoneId: string;
  readonly id: number;
  tries: number;
  timer?: NodeJS.Timeout;
  /** The zone has changed since this was sent. */
  stale: boolean;
}

export class Notifier {
  readonly #options: NotifierOptions;
  readonly #sockets = new Map<"udp4" | "udp6", Socket>();
  readonly #telling = new Map<string, Telling>();
  #stopped = false;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  changed(zoneId: string): void {
    if (this.#stopped) return;
    for (const secondary of this.#options.secondaries) {
      const telling = this.#telling.get(tellingKey(secondary, zoneId));
      if (telling === undefined) this.#begin(secondary, zoneId);
      else telling.stale = true;
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const { timer } of this.#telling.values()) clearTimeout(timer);
    this.#telling.clear();
    for (const socket of this.#sockets.values()) socket.close();
    this.#sockets.clear();
  }

  #begin(secondary: Secondary, zoneId: string): void {
    const telling = { secondary, zoneId, id: randomInt(65_536), tries: 0, stale: false };
    this.#telling.set(tellingKey(secondary, zoneId), telling);
    this.#send(telling);
  }

  #send(telling: Telling): void {
    const { secondary, zoneId } = telling;
    const wait = waitsMilliseconds[telling.tries];
    const zone = this.#options.zone(zoneId);
    if (wait === undefined || zone === undefined) {
      this.#telling.delete(tellingKey(secondary, zoneId));
      return;
    }
    telling.tries += 1;
    const message = notifyMessage(telling.id, zone);
    const bytes = encodeMessage(message, { bytesMax: messageBytesMax });
    const { key, host, port } = secondary;
    const sent =
      key === undefined
        ? bytes
        : signMessage(bytes, { key, hmac, nowSeconds: Math.floor(Date.now() / 1000) }).bytes;
    // An error here is one of the network; the next try is the answer to it.
    this.#socket(host).send(sent, port, host, () => {});
    telling.timer = setTimeout(() => this.#send(telling), wait);
    telling.timer.unref();
  }

  #socket(host: string): Socket {
    const family = isIPv6(host) ? "udp6" : "udp4";
    let socket = this.#sockets.get(family);
    if (socket === undefined) {
      socket = createSocket(family);
      socket.on("message", (bytes, { address, port }) => this.#take(bytes, address, port));
      socket.on("error", () => {});
      socket.unref();
      this.#sockets.set(family, socket);
    }
    return socket;
  }

  /** Whatever the secondary thinks of it, it has heard. */
  #take(bytes: Uint8Array, address: string, port: number): void {
    let message: Message;
    try {
      message = decodeMessage(bytes);
    } catch {
      return;
    }
    if (!message.response || message.opcode !== opcodes.NOTIFY) return;
    const acknowledged = [...this.#telling].find(
      ([, { id, secondary }]) =>
        id === message.id && secondary.host === address && secondary.port === port,
    );
    if (acknowledged === undefined) return;
    const [key, { secondary, zoneId, timer, stale }] = acknowledged;
    clearTimeout(timer);
    this.#telling.delete(key);
    if (stale) this.#begin(secondary, zoneId);
  }
}

function tellingKey({ host, port }: Secondary, zoneId: string): string {
  return `${host} ${port} ${zoneId}`;
}

function notifyMessage(id: number, { name, soa }: Pick<ServedZone, "name" | "soa">): Message {
  return {
    ...blankMessage,
    id,
    opcode: opcodes.NOTIFY,
    authoritative: true,
    questions: [{ name, type: typeCodes.SOA, class: classCodes.IN }],
    answers: [
      {
        name,
        type: typeCodes.SOA,
        class: classCodes.IN,
        ttlSeconds: soa.ttlSeconds,
        data: soa.data[0]!,
      },
    ],
  };
}
