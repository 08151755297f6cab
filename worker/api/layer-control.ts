/** The test control of isolation layers (`src/testing/isolation-layers.ts`) for other processes. */

/** Only the endpoint for other processes serves this path. */
export const layersPath = "/ledge/layers";

/** Closes a layer, and opens another in the same call, or opens a layer. */
export interface LayerRequest {
  readonly open?: number;
  readonly close?: number;
  readonly next?: number | undefined;
  /** The opened layer is a snapshot inside a test. */
  readonly isSnapshot?: boolean | undefined;
}
