/**
 * Connections to origins.
 *
 * **Where to.** `destination()` says where: to addresses of this machine, and to addresses and names that `[edge]
 * origins` allows. A rule with a name allows what the name leads to, so only such names are looked up here.
 *
 * **How.** By the protocol of the rule, else by that of the request. For https without a rule, an origin that does
 * not speak TLS gets http, because servers of developers rarely have certificates. Deviation: one setting of a
 * zone decides so on the deployed platform ("Flexible"). Certificates of this machine are not checked ("Full"), those
 * of others are ("Full (strict)").
 */
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { isIP, isIPv6, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { AnsweredSocket } from "../../base/answered-socket.ts";
import { isLoopbackAddress } from "../../dns/record/ip-address.ts";
import type { Origin } from "../core/destination.ts";
import type { OriginOrder } from "../core/origin-request.ts";
import type { OriginFault } from "../core/pages.ts";

/** As the deployed platform waits. */
const connectMillisecondsDefault = 19_000;
/** A server of http may wait for the end of a line, which TLS does not send. */
const handshakeMilliseconds = 3000;

/** Why there is no connection, or no response. */
export class OriginError extends Error {
  readonly fault: OriginFault;
  /** `127.0.0.1:3000` */
  readonly address: string;

  constructor(fault: OriginFault, address: string, cause?: unknown) {
    super(`${address}: ${fault}`, { cause });
    this.fault = fault;
    this.address = address;
  }
}

export interface ConnectOptions {
  readonly connectMilliseconds?: number;
  /** Whether the certificate of an address is not checked. Default: on this machine. */
  readonly isTrusted?: (address: string) => boolean;
}

export interface OriginConnection {
  readonly socket: Socket;
  readonly address: string;
}

interface Target {
  readonly address: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** Whether http follows. */
  readonly isAttempt: boolean;
}

/** @throws OriginError of the last address */
export async function connectOrigin(
  { origins, protocol, host }: OriginOrder,
  options: ConnectOptions,
): Promise<OriginConnection> {
  const targets = await Promise.all(origins.map((origin) => targetsOf(origin, protocol)));
  const names = origins.map(({ address }) => address);
  let failure: unknown = new OriginError("unresolved", names.join(", "));
  for (const target of targets.flat()) {
    try {
      return { socket: await open(target, host, options), address: shown(target) };
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** None for a name without addresses. */
async function targetsOf(
  { address: host, port, protocol }: Origin,
  requested: "http" | "https",
): Promise<Target[]> {
  const found =
    isIP(host) === 0 ? await lookup(host, { all: true }).catch(() => []) : [{ address: host }];
  const secure = { port: port ?? 443, isSecure: true, isAttempt: protocol === null };
  const plain = { port: port ?? 80, isSecure: false, isAttempt: false };
  const isPlain = (protocol ?? requested) === "http";
  const ways = isPlain ? [plain] : protocol === null ? [secure, plain] : [secure];
  return found.flatMap(({ address }) => ways.map((way) => ({ address, ...way })));
}

async function open(target: Target, host: string, options: ConnectOptions): Promise<Socket> {
  const { address, port, isSecure, isAttempt } = target;
  const { connectMilliseconds = connectMillisecondsDefault, isTrusted = isLoopbackAddress } =
    options;
  const socket = new AnsweredSocket().connect({ host: address, port }).setNoDelay();
  await opened(socket, "connect", connectMilliseconds).catch((error: unknown) => {
    throw new OriginError(connectFault(error), shown(target), error);
  });
  if (!isSecure) return socket;
  const secure = connectTls({
    socket,
    servername: isIP(host) === 0 ? host : "",
    ALPNProtocols: ["http/1.1"],
    // Checked below, because a certificate is a fault of its own.
    rejectUnauthorized: false,
  });
  const milliseconds = isAttempt ? handshakeMilliseconds : connectMilliseconds;
  await opened(secure, "secureConnect", milliseconds).catch((error: unknown) => {
    throw new OriginError("handshake", shown(target), error);
  });
  if (secure.authorized || isTrusted(address)) return secure;
  secure.destroy();
  throw new OriginError("certificate", shown(target), secure.authorizationError);
}

async function opened(socket: Socket, event: string, milliseconds: number): Promise<void> {
  try {
    await once(socket, event, { signal: AbortSignal.timeout(milliseconds) });
  } catch (error) {
    socket.on("error", () => {}).destroy();
    throw error;
  }
}

/** Of a connection that did not open. */
export function connectFault(error: unknown): OriginFault {
  const { code, name } = error as NodeJS.ErrnoException;
  if (code === "ECONNREFUSED") return "refused";
  return name === "AbortError" || code === "ETIMEDOUT" ? "timeout" : "unreachable";
}

function shown({ address, port }: Target): string {
  return `${isIPv6(address) ? `[${address}]` : address}:${port}`;
}
