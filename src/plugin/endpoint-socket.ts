/**
 * The socket of the store's endpoint (`store/endpoint`) in a runtime.
 *
 * Miniflare opens sockets for workers that its options name, and a plugin can change the options
 * before Miniflare reads them.
 */
import type { ParsedWorkerOptions } from "miniflare";
import { removeSocket } from "../base/folder-sockets.ts";
import { endpointHost, endpointPath } from "../store/node/store-owner.ts";

/** Also the name of the class, which no script is likely to use. */
const entrypoint = "LedgeStoreEndpoint";
const scriptName = "ledge-store";

/**
 * The service of the buckets and of the endpoint: a second service would be a second isolate to
 * start. Miniflare looks up the service of a socket among the scripts, hence the prefix.
 */
export const bucketsService = `core:user:${scriptName}`;

/** Adds the socket to a script's sockets, once: Miniflare may read the same options twice. */
export function openEndpointSocket(worker: ParsedWorkerOptions, folder: string): void {
  closeEndpointSocket(worker);
  // Only the owner listens here, and the file of its last runtime would be in the way.
  removeSocket(endpointPath(folder));
  const dev = devOptions(worker);
  dev.unsafeDirectSockets = [
    ...(dev.unsafeDirectSockets ?? []),
    { host: endpointHost(folder), port: 0, serviceName: scriptName, entrypoint },
  ];
}

/** Removes the socket: the runtime is not the owner, or is not the owner any more. */
export function closeEndpointSocket(worker: ParsedWorkerOptions): void {
  const dev = devOptions(worker);
  dev.unsafeDirectSockets = (dev.unsafeDirectSockets ?? []).filter(
    (socket) => socket.entrypoint !== entrypoint,
  );
}

interface DevOptions {
  unsafeDirectSockets?: { entrypoint?: string; [option: string]: unknown }[];
}

function devOptions(worker: ParsedWorkerOptions): DevOptions {
  return ((worker as { dev?: unknown }).dev ??= {}) as DevOptions;
}
