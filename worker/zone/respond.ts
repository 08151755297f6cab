import type { Message } from "../wire/message.ts";
import type { OutsideAnswers, OutsideQuestion } from "./outside.ts";
import type { ServedZone } from "./served-zone.ts";
import type { ServedZones } from "./served-zones.ts";

export type Transport = "udp" | "tcp" | "https";

export interface ResponderOptions {
  readonly zones: ServedZones;
  readonly outside: OutsideAnswers;
  /** 16 octets; without it cookies are not spoken of. */
  readonly cookieSecret?: Uint8Array;
  /** RFC 5001; sent to those who ask. */
  readonly nsid?: Uint8Array;
  /** Hand AXFR and IXFR over TCP to the caller; without it they are refused. */
  readonly transfers?: boolean;
  /** Node may hand out octets of its pool. */
  readonly allocate?: (length: number) => Uint8Array;
}

export interface Asker {
  readonly transport: Transport;
  /** 4 or 16 octets. */
  readonly address: Uint8Array;
}

/**
 * Octets: send them. `null`: say nothing. "outside": ask a resolver, `OutsideAnswers.put()` what it
 * said, and call again. "transfer": a stream of messages is wanted, which is not made here.
 */
export type Response =
  | Uint8Array
  | null
  | { readonly kind: "outside"; readonly questions: readonly OutsideQuestion[] }
  | { readonly kind: "transfer"; readonly query: Message; readonly zone: ServedZone };

export declare class Responder {
  constructor(options: ResponderOptions);
  /** Never throws. */
  respond(query: Uint8Array, asker: Asker, nowSeconds: number): Response;
}
