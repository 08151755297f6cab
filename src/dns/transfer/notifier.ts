/**
 * NOTIFY (RFC 1996): tells secondaries that a zone has a new serial. For each secondary and zone at
 * most one is on its way; what changes meanwhile is told by the next. One that is not acknowledged
 * is sent again, more and more seldom, and then given up: the secondary asks by itself, too.
 */
import { randomInt } from "node:crypto";
import { createSocket, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import {
  decodeMessage,
  encodeMessage,
  type Message,
  type ResourceRecord,
} from "../../../worker/wire/message.ts";
import { CLASS, OPCODE, TYPE } from "../../../worker/wire/numbers.ts";
import { signMessage, type TsigKey } from "../../../worker/wire/tsig-mac.ts";
import { hmac } from "./hmac.ts";

export interface Secondary {
  readonly host: string;
  readonly port: number;
  readonly key?: TsigKey;
}

export interface NotifierOptions {
  readonly secondaries: readonly Secondary[];
  /** The SOA that the zone has now; `undefined` when it is gone. */
  readonly soa: (zoneName: string) => ResourceRecord | undefined;
}

/** RFC 1996 section 3.6 speaks of five tries and a minute; on one machine the first is quicker. */
const WAITS_MILLISECONDS = [500, 2000, 5000, 15_000, 60_000];
const MESSAGE_BYTES_MAX = 512;

interface Telling {
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

  changed(zoneName: string): void {
    if (this.#stopped) return;
    for (const secondary of this.#options.secondaries) {
      const telling = this.#telling.get(tellingKey(secondary, zoneName));
      if (telling === undefined) this.#begin(secondary, zoneName);
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

  #begin(secondary: Secondary, zoneName: string): void {
    const telling = { id: randomInt(65_536), tries: 0, stale: false };
    this.#telling.set(tellingKey(secondary, zoneName), telling);
    this.#send(secondary, zoneName, telling);
  }

  #send(secondary: Secondary, zoneName: string, telling: Telling): void {
    const wait = WAITS_MILLISECONDS[telling.tries];
    const soa = this.#options.soa(zoneName);
    if (wait === undefined || soa === undefined) {
      this.#telling.delete(tellingKey(secondary, zoneName));
      return;
    }
    telling.tries += 1;
    const message = notifyMessage(telling.id, zoneName, soa);
    const bytes = encodeMessage(message, { bytesMax: MESSAGE_BYTES_MAX });
    const { key, host, port } = secondary;
    const sent =
      key === undefined
        ? bytes
        : signMessage(bytes, { key, hmac, nowSeconds: Math.floor(Date.now() / 1000) }).bytes;
    // An error here is one of the network; the next try is the answer to it.
    this.#socket(host).send(sent, port, host, () => {});
    telling.timer = setTimeout(() => this.#send(secondary, zoneName, telling), wait);
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
    const [question] = message.questions;
    if (!message.response || message.opcode !== OPCODE.NOTIFY || question === undefined) return;
    const secondary = this.#options.secondaries.find(
      (each) => each.host === address && each.port === port,
    );
    if (secondary === undefined) return;
    const zoneName = question.name.toLowerCase();
    const key = tellingKey(secondary, zoneName);
    const telling = this.#telling.get(key);
    if (telling === undefined || telling.id !== message.id) return;
    clearTimeout(telling.timer);
    this.#telling.delete(key);
    if (telling.stale) this.#begin(secondary, zoneName);
  }
}

function tellingKey({ host, port }: Secondary, zoneName: string): string {
  return `${host} ${port} ${zoneName}`;
}

function notifyMessage(id: number, zoneName: string, soa: ResourceRecord): Message {
  return {
    id,
    response: false,
    opcode: OPCODE.NOTIFY,
    authoritative: true,
    truncated: false,
    recursionDesired: false,
    recursionAvailable: false,
    authenticData: false,
    checkingDisabled: false,
    rcode: 0,
    questions: [{ name: zoneName, type: TYPE.SOA, class: CLASS.IN }],
    answers: [soa],
    authorities: [],
    additionals: [],
    edns: null,
    tsig: null,
  };
}
