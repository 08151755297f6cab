/**
 * NOTIFY (RFC 1996): tells secondaries that a zone has a new serial. A secondary gets at most one
 * notification of a zone at a time; a later change is announced after the acknowledgement. A
 * notification without acknowledgement is repeated at growing intervals and then dropped, because
 * secondaries also poll.
 */
import { randomInt } from "node:crypto";
import { createSocket, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import { blankMessage, decodeMessage, encodeMessage, type Message } from "../wire/message.ts";
import { classCodes, opcodes, typeCodes } from "../wire/numbers.ts";
import type { ServedZone, ServedZones } from "../answer/served-zones.ts";
import type { Secondary } from "../config/dns-table.ts";
import { signNow } from "../client/message-signing.ts";
import type { ObservedQueries } from "../fault/observed-queries.ts";

/** RFC 1996 section 3.6 suggests five tries, a minute apart; local secondaries answer sooner. */
const retryMilliseconds = [500, 2000, 5000, 15_000, 60_000];
const messageBytesMax = 512;

interface PendingNotify {
  readonly secondary: Secondary;
  readonly zoneId: string;
  readonly id: number;
  tries: number;
  timer?: NodeJS.Timeout;
  /** The zone has changed since the notification was sent. */
  stale: boolean;
}

export class Notifier {
  readonly #secondaries: readonly Secondary[];
  readonly #zones: ServedZones;
  readonly #observed: ObservedQueries;
  readonly #sockets = new Map<"udp4" | "udp6", Socket>();
  readonly #pending = new Map<string, PendingNotify>();
  #stopped = false;

  /** @param observed for faults that lose notifications */
  constructor(secondaries: readonly Secondary[], zones: ServedZones, observed: ObservedQueries) {
    this.#secondaries = secondaries;
    this.#zones = zones;
    this.#observed = observed;
  }

  changed(zoneId: string): void {
    if (this.#stopped) return;
    for (const secondary of this.#secondaries) {
      const pending = this.#pending.get(pendingKey(secondary, zoneId));
      if (pending === undefined) this.#begin(secondary, zoneId);
      else pending.stale = true;
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const { timer } of this.#pending.values()) clearTimeout(timer);
    this.#pending.clear();
    for (const socket of this.#sockets.values()) socket.close();
    this.#sockets.clear();
  }

  #begin(secondary: Secondary, zoneId: string): void {
    const notification = { secondary, zoneId, id: randomInt(65_536), tries: 0, stale: false };
    this.#pending.set(pendingKey(secondary, zoneId), notification);
    this.#send(notification);
  }

  #send(notification: PendingNotify): void {
    const { secondary, zoneId } = notification;
    const wait = retryMilliseconds[notification.tries];
    const zone = this.#zones.get(zoneId);
    if (wait === undefined || zone === undefined) {
      this.#pending.delete(pendingKey(secondary, zoneId));
      return;
    }
    notification.tries += 1;
    const message = notifyMessage(notification.id, zone);
    const bytes = encodeMessage(message, { bytesMax: messageBytesMax });
    const { key, host, port } = secondary;
    const sent = key === undefined ? bytes : signNow(bytes, key).bytes;
    const send = (): void => {
      // The next try covers errors of the network.
      if (!this.#stopped) this.#socket(host).send(sent, port, host, () => {});
    };
    if (this.#observed.isActive) {
      void this.#observed.losesNotify(zone.name, host).then((isLost) => isLost || send());
    } else send();
    notification.timer = setTimeout(() => this.#send(notification), wait);
    notification.timer.unref();
  }

  #socket(host: string): Socket {
    const family = isIPv6(host) ? "udp6" : "udp4";
    let socket = this.#sockets.get(family);
    if (socket === undefined) {
      socket = createSocket(family);
      socket.on("message", (bytes, { address, port }) => this.#receive(bytes, address, port));
      socket.on("error", () => {});
      socket.unref();
      this.#sockets.set(family, socket);
    }
    return socket;
  }

  /** Any response is an acknowledgement, whatever its RCODE. */
  #receive(bytes: Uint8Array, address: string, port: number): void {
    let message: Message;
    try {
      message = decodeMessage(bytes);
    } catch {
      return;
    }
    if (!message.response || message.opcode !== opcodes.NOTIFY) return;
    const acknowledged = [...this.#pending].find(
      ([, { id, secondary }]) =>
        id === message.id && secondary.host === address && secondary.port === port,
    );
    if (acknowledged === undefined) return;
    const [key, { secondary, zoneId, timer, stale }] = acknowledged;
    clearTimeout(timer);
    this.#pending.delete(key);
    if (stale) this.#begin(secondary, zoneId);
  }
}

function pendingKey({ host, port }: Secondary, zoneId: string): string {
  return `${host} ${port} ${zoneId}`;
}

function notifyMessage(id: number, { name, soa }: ServedZone): Message {
  const question = { name, type: typeCodes.SOA, class: classCodes.IN };
  return {
    ...blankMessage,
    id,
    opcode: opcodes.NOTIFY,
    authoritative: true,
    questions: [question],
    answers: [{ ...question, ttlSeconds: soa.ttlSeconds, data: soa.data[0]! }],
  };
}
