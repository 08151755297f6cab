/**
 * The socket of the store's endpoint (`store/endpoint`) in a runtime.
 *
 * Miniflare opens sockets for workers that its options name, and a plugin can change the options
 * before Miniflare reads them. The port must be known in advance, because Miniflare does not tell
 * a plugin which port workerd has bound.
 */
import { randomBytes } from "node:crypto";
import type { ParsedWorkerOptions } from "miniflare";
import { reservePort } from "../base/ports.ts";
import type { EndpointAddress } from "../store/node/store-owner.ts";

/** Also the name of the class, which no script is likely to use. */
const entrypoint = "LedgeStoreEndpoint";
const scriptName = "ledge-store";

/**
 * The service of the buckets and of the endpoint: a second service would be a second isolate to
 * start. Miniflare looks up the service of a socket among the scripts, hence the prefix.
 */
export const bucketsService = `core:user:${scriptName}`;

const endpoints = new Map<number, EndpointAddress>();

/** The endpoint of a Miniflare, by its loopback port. A runtime that restarts keeps its endpoint. */
export async function reserveEndpoint(loopbackPort: number): Promise<EndpointAddress> {
  let endpoint = endpoints.get(loopbackPort);
  if (endpoint === undefined) {
    endpoint = { port: await reservePort(), secret: randomBytes(32).toString("base64url") };
    endpoints.set(loopbackPort, endpoint);
  }
  return endpoint;
}

/** Adds the socket to a script's sockets, once: Miniflare may read the same options twice. */
export function openEndpointSocket(worker: ParsedWorkerOptions, { port }: EndpointAddress): void {
  const dev = ((worker as { dev?: ParsedWorkerOptions["dev"] }).dev ??= {} as never) as {
    unsafeDirectSockets?: object[];
  };
  const others = (dev.unsafeDirectSockets ?? []).filter(
    (socket) => (socket as { entrypoint?: string }).entrypoint !== entrypoint,
  );
  dev.unsafeDirectSockets = [
    ...others,
    { host: "127.0.0.1", port, serviceName: scriptName, entrypoint },
  ];
}
