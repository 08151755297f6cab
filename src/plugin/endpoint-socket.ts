/**
 * The endpoint's place in a runtime (`store/endpoint`): a port of its own.
 *
 * Miniflare opens sockets to workers that its options name, and a plugin sees the options before
 * they are read. The number of the port has to be known beforehand, for nobody tells a plugin
 * which one workerd has got.
 */
import { randomBytes } from "node:crypto";
import type { ParsedWorkerOptions } from "miniflare";
import type { EndpointAddress } from "../base/run-record.ts";
import { reservePort } from "../base/ports.ts";

/** Also the name of the class: no script will have one like it. */
const entrypoint = "LedgeStoreEndpoint";
const scriptName = "ledge-store";

/**
 * The service behind the endpoint, which is that of the buckets: one more would be one more isolate to
 * start. Miniflare looks for the service of a socket among the scripts.
 */
export const storeService = `core:user:${scriptName}`;

const endpoints = new Map<number, EndpointAddress>();

/** The endpoint of a Miniflare, known by its own port: a runtime that restarts keeps it. */
export async function reserveEndpoint(loopbackPort: number): Promise<EndpointAddress> {
  let endpoint = endpoints.get(loopbackPort);
  if (endpoint === undefined) {
    endpoint = { port: await reservePort(), secret: randomBytes(32).toString("base64url") };
    endpoints.set(loopbackPort, endpoint);
  }
  return endpoint;
}

/** Makes Miniflare open the endpoint, with this script's sockets. Options may be read more than once. */
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
