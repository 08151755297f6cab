/**
 * The stores whose conditions this process holds. A runtime that this process starts waits for the
 * conditions before its first call, as when a dev server starts its runtime again for a saved script
 * (`store/bucket/conditions.ts`). The runtime of another process has them a moment later.
 */
import { endpointPath } from "./store-owner.ts";

/** The addresses of the stores, by their holders. */
const addresses = new Map<object, string>();

export function addConditionsHolder(holder: object, folder: string): void {
  addresses.set(holder, endpointPath(folder));
}

export function removeConditionsHolder(holder: object): void {
  addresses.delete(holder);
}

/** @param folder exists */
export function hasConditionsHolder(folder: string): boolean {
  return addresses.size > 0 && [...addresses.values()].includes(endpointPath(folder));
}
