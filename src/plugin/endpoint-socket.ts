/**
 * The socket of the store's endpoint (`store/bucket/endpoint.ts`) in a runtime.
 *
 * Miniflare opens sockets for workers that its options name, and a plugin can change the options
 * before Miniflare reads them.
 */
import type { ParsedWorkerOptions } from "miniflare";
import { publishSocket, socketPath } from "../state/sockets.ts";
import { directSockets, setDirectSockets } from "../base/miniflare.ts";
import {
  bucketsWorkerName,
  endpointEntrypoint as entrypoint,
} from "../store/node/bucket-services.ts";
import { endpointPath } from "../store/node/endpoint-connection.ts";

/** Adds the socket of a run to a script's sockets: Miniflare may read the same options twice. */
export function openEndpointSocket(
  worker: ParsedWorkerOptions,
  folder: string,
  runId: string,
): void {
  closeEndpointSocket(worker);
  setDirectSockets(worker, [
    ...directSockets(worker),
    {
      host: `unix:${socketPath(folder, runId)}`,
      port: 0,
      serviceName: bucketsWorkerName,
      entrypoint,
    },
  ]);
}

/** @param name of a socket, as Miniflare makes it of the worker's index and the entrypoint */
export function isEndpointSocket(name: string): boolean {
  return name.endsWith(entrypoint);
}

/** Makes the runtime of a run the one that answers at the endpoint. */
export function publishEndpoint(folder: string, runId: string): void {
  // Miniflare appends the port to every host. Here the port is a part of the socket's name.
  publishSocket(socketPath(folder, `${runId}:0`), endpointPath(folder));
}

/** Removes the socket: the runtime is not the owner, or is not the owner any more. */
export function closeEndpointSocket(worker: ParsedWorkerOptions): void {
  const others = directSockets(worker).filter((socket) => socket.entrypoint !== entrypoint);
  setDirectSockets(worker, others);
}
