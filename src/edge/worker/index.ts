/** The entrypoints of the edge worker. */
export { LedgeEdge } from "./edge-worker.ts";
export { LedgeOutbound } from "./outbound.ts";
