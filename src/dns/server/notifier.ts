/**
 * NOTIFY (RFC 1996): tells secondaries that a zone has a new serial. Nothing is sent before the sockets
 * are bound, because a secondary asks for the zone at once, and a secondary whose question has failed
 * asks again much later (40 minutes by the SOA of a zone here). Then every zone is announced: the zones
 * may have changed while no server ran.
 *
 * An acknowledgement says that the message has arrived, and not that the secondary has the zone. So the
 * secondary is asked for its SOA afterwards, and the message is repeated until `isDelivered()`. The pauses
 * grow, and the repetitions end after the refresh time of the zone, when a secondary asks by itself. A
 * change starts them anew.
 */
import { randomInt } from "node:crypto";
import { createSocket, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import type { Query } from "../answer/query.ts";
import type { ServedZone, ServedZones } from "../answer/served-zones.ts";
import { signNow } from "../client/fetch-zone.ts";
import type { Secondary } from "../config/dns-table.ts";
import { parseIpv4, parseIpv6 } from "../record/ip-address.ts";
import { blankMessage, decodeMessage, encodeMessage, type Message } from "../wire/message.ts";
import { nameKey } from "../wire/name.ts";
import { classCodes, isLaterSerial, opcodes, rcodes, typeCodes } from "../wire/numbers.ts";

/** A secondary on the other side of the world answers sooner. */
const replyMilliseconds = 1000;
/** Of one secondary, at once: a server with thousands of zones sends no burst. */
const exchangesMax = 20;
const pauseMillisecondsMin = 500;
const pauseMillisecondsMax = 5 * 60 * 1000;

/** What is known of a secondary since the current serial of a zone was announced. */
interface Evidence {
  /** The current serial of the zone. */
  readonly serial: number;
  readonly acknowledged: boolean;
  /** The serial that a question from the secondary's address got last: for the SOA, or a transfer. */
  readonly asked: number | null;
  /** The serial that the secondary serves; `null` when the secondary does not tell. */
  readonly told: number | null;
}

/**
 * A secondary that serves the serial has the zone. A question from its address proves less, because
 * several secondaries can have one address. The question decides for a secondary that does not tell its
 * serial, or that counts serials of its own because it signs the zone.
 */
export function isDelivered({ serial, acknowledged, asked, told }: Evidence): boolean {
  if (!acknowledged) return false;
  if (told === serial) return true;
  const isBehind = told !== null && isLaterSerial(serial, told);
  return asked === serial && !isBehind;
}

/** The pauses between messages, in milliseconds. */
export function* retryPauses(refreshSeconds: number): Generator<number, void> {
  let pause = pauseMillisecondsMin;
  for (let total = 0; total < refreshSeconds * 1000; total += pause) {
    if (total > 0) pause = Math.min(2 * pause, pauseMillisecondsMax);
    yield pause;
  }
}

interface NotifierOptions {
  readonly secondaries: readonly Secondary[];
  readonly zones: ServedZones;
  /** A fault of tests. */
  readonly losesNotify: (zoneName: string, secondary: string) => Promise<boolean>;
  readonly exchanges: Pick<Exchanges, "exchange" | "stop">;
}

export class Notifier {
  readonly #options: NotifierOptions;
  readonly #links: readonly SecondaryLink[];
  /** The zones that were loaded before the start. */
  #waiting: Set<string> | null = new Set();

  constructor(options: NotifierOptions) {
    this.#options = options;
    this.#links = options.secondaries.map((secondary) => new SecondaryLink(secondary, options));
  }

  /** To be called when secondaries can ask for the zones. */
  start(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const zoneId of waiting) this.changed(zoneId);
  }

  changed(zoneId: string): void {
    if (this.#waiting !== null) this.#waiting.add(zoneId);
    else for (const link of this.#links) link.announce(zoneId);
  }

  /** To be called with each query for an SOA or a transfer, which may come from a secondary. */
  asked({ name, source, signature }: Query): void {
    if (this.#links.every((link) => link.isIdle)) return;
    const zone = this.#options.zones.at(nameKey(name));
    if (zone === undefined) return;
    for (const link of this.#links) link.asked(zone, source.address, signature?.key.name);
  }

  stop(): void {
    this.#waiting = new Set();
    for (const link of this.#links) link.stop();
    this.#options.exchanges.stop();
  }
}

interface Announcement {
  asked: number | null;
  /** Ends the pause. */
  wake: () => void;
}

/** The announcements to one secondary: at most one for each zone. */
class SecondaryLink {
  readonly #secondary: Secondary;
  readonly #address: string;
  readonly #options: NotifierOptions;
  readonly #announcements = new Map<string, Announcement>();
  #exchangesFree = exchangesMax;
  readonly #waiting: (() => void)[] = [];
  #stopped = false;

  constructor(secondary: Secondary, options: NotifierOptions) {
    this.#secondary = secondary;
    this.#address = addressKey(secondary.host);
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#announcements.size === 0;
  }

  announce(zoneId: string): void {
    const known = this.#announcements.get(zoneId);
    if (known === undefined) void this.#deliver(zoneId);
    else known.wake();
  }

  asked({ id, serial }: ServedZone, address: Uint8Array, keyName: string | undefined): void {
    const announcement = this.#announcements.get(id);
    const { key } = this.#secondary;
    const isOther = address.join() !== this.#address || (key !== undefined && key.name !== keyName);
    if (announcement !== undefined && !isOther) announcement.asked = serial;
  }

  stop(): void {
    this.#stopped = true;
    for (const { wake } of this.#announcements.values()) wake();
  }

  async #deliver(zoneId: string): Promise<void> {
    const announcement: Announcement = { asked: null, wake: () => {} };
    this.#announcements.set(zoneId, announcement);
    let serial: number | null = null;
    let acknowledged = false;
    let pauses = retryPauses(0);
    try {
      for (;;) {
        await this.#takeExchange();
        try {
          const zone = this.#options.zones.get(zoneId);
          if (zone === undefined || this.#stopped) return;
          if (zone.serial !== serial) {
            serial = zone.serial;
            pauses = retryPauses(soaNumber(zone.soa.data[0]!, "refresh"));
          } else if (acknowledged) {
            const told = await this.#askSerial(zone);
            const { asked } = announcement;
            // The zone can have changed while the secondary was asked.
            if (this.#serialOf(zoneId) !== serial) continue;
            if (isDelivered({ serial, acknowledged, asked, told })) return;
          }
          acknowledged = await this.#notify(zone);
        } finally {
          this.#releaseExchange();
        }
        if (this.#serialOf(zoneId) !== serial) continue;
        const { value: pause } = pauses.next();
        if (pause === undefined) return;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, pause).unref();
          announcement.wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    } finally {
      // At once: a change after this line starts the next announcement.
      this.#announcements.delete(zoneId);
    }
  }

  #serialOf(zoneId: string): number | undefined {
    return this.#options.zones.get(zoneId)?.serial;
  }

  /** Any response is an acknowledgement, whatever its RCODE. */
  async #notify({ name, soa }: ServedZone): Promise<boolean> {
    if (await this.#options.losesNotify(name, this.#secondary.host)) return false;
    const question = { name, type: typeCodes.SOA, class: classCodes.IN };
    const reply = await this.#options.exchanges.exchange(this.#secondary, {
      ...blankMessage,
      opcode: opcodes.NOTIFY,
      authoritative: true,
      questions: [question],
      answers: [{ ...question, ttlSeconds: soa.ttlSeconds, data: soa.data[0]! }],
    });
    return reply !== null;
  }

  async #askSerial({ name }: ServedZone): Promise<number | null> {
    const questions = [{ name, type: typeCodes.SOA, class: classCodes.IN }];
    const query = { ...blankMessage, questions };
    const reply = await this.#options.exchanges.exchange(this.#secondary, query);
    if (reply?.rcode !== rcodes.NOERROR || !reply.authoritative) return null;
    const soa = reply.answers.find(
      ({ type, data }) => type === typeCodes.SOA && data.length > soaNumbersBytes,
    );
    return soa === undefined ? null : soaNumber(soa.data, "serial");
  }

  async #takeExchange(): Promise<void> {
    if (this.#exchangesFree > 0) this.#exchangesFree -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #releaseExchange(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#exchangesFree += 1;
    else next();
  }
}

/** Messages to secondaries by UDP, and their replies. */
export class Exchanges {
  readonly #sockets = new Map<"udp4" | "udp6", Socket>();
  readonly #waiting = new Map<string, (reply: Message) => void>();
  #stopped = false;

  /** Resolves to `null` without a reply in time. An error of the network is a message that is lost. */
  exchange({ host, port, key }: Secondary, message: Message): Promise<Message | null> {
    if (this.#stopped) return Promise.resolve(null);
    const id = randomInt(65_536);
    const bytes = encodeMessage({ ...message, id });
    const sent = key === undefined ? bytes : signNow(bytes, key).bytes;
    this.#socket(isIPv6(host) ? "udp6" : "udp4").send(sent, port, host, () => {});
    const place = `${id} ${addressKey(host)} ${port}`;
    return new Promise((resolve) => {
      const end = (reply: Message | null): void => {
        clearTimeout(timer);
        this.#waiting.delete(place);
        resolve(reply);
      };
      const timer = setTimeout(end, replyMilliseconds, null).unref();
      this.#waiting.set(place, (reply) => reply.opcode === message.opcode && end(reply));
    });
  }

  stop(): void {
    this.#stopped = true;
    for (const socket of this.#sockets.values()) socket.close();
  }

  #socket(family: "udp4" | "udp6"): Socket {
    const known = this.#sockets.get(family);
    if (known !== undefined) return known;
    const socket = createSocket(family).unref();
    socket.on("message", (bytes, { address, port }) => {
      let reply: Message;
      try {
        reply = decodeMessage(bytes);
      } catch {
        return;
      }
      if (!reply.response) return;
      this.#waiting.get(`${reply.id} ${addressKey(address)} ${port}`)?.(reply);
    });
    socket.on("error", () => {});
    this.#sockets.set(family, socket);
    return socket;
  }
}

/** One text for each address: IPv6 has several. */
function addressKey(address: string): string {
  const text = address.replace(/%.*$/, "");
  return (parseIpv4(text) ?? parseIpv6(text) ?? []).join();
}

/** The data of an SOA record ends with five numbers (RFC 1035 section 3.3.13). */
const soaNumbersBytes = 20;

function soaNumber(data: Uint8Array, field: "serial" | "refresh"): number {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return view.getUint32(data.length - soaNumbersBytes + (field === "serial" ? 0 : 4));
}
