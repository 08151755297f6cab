/** Encoded queries, and a responder to send them to. */
import {
  blankMessage,
  decodeMessage,
  encodeMessage,
  type Message,
} from "../../../src/dns/wire/message.ts";
import { ExternalAddressCache } from "../../../src/dns/answer/external-addresses.ts";
import { typeCode } from "../../../src/dns/record/presentation.ts";
import type { QuerySource } from "../../../src/dns/answer/query.ts";
import { Responder, type ResponderOptions } from "../../../src/dns/answer/responder.ts";
import type { ServedZones } from "../../../src/dns/answer/served-zones.ts";

export const plainEdns = {
  udpBytesMax: 1232,
  version: 0,
  dnssecOk: false,
  compactOk: false,
  options: [],
};

export function composeQuery(question: string | null, changes: Partial<Message> = {}): Uint8Array {
  const [name, type] = question?.split(" ") ?? [];
  const questions = question === null ? [] : [{ name: name!, type: typeCode(type!)!, class: 1 }];
  const message: Message = { ...blankMessage, id: 0xbeef, questions, ...changes };
  return encodeMessage(message);
}

export const udp: QuerySource = { transport: "udp", address: Uint8Array.of(127, 0, 0, 1) };
export const tcp: QuerySource = { ...udp, transport: "tcp" };
export const tls: QuerySource = { ...udp, transport: "tls" };

const onError = (error: unknown) => {
  throw new Error("respond() reported an error", { cause: error });
};

/** An error inside the responder fails the test. */
export function respondFrom(
  zones: ServedZones,
  options: Partial<ResponderOptions> = {},
): {
  responder: Responder;
  ask: (query: Uint8Array, source?: QuerySource, now?: number) => Message;
} {
  const responder = new Responder({
    zones,
    external: new ExternalAddressCache(),
    onError,
    ...options,
  });
  return {
    responder,
    ask(query, source = udp, now = 0) {
      const response = responder.respond(query, source, now);
      if (!(response instanceof Uint8Array)) throw new Error("respond() returned no response");
      return decodeMessage(response);
    },
  };
}
