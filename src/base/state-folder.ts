/**
 * Where a project keeps its state. The layout is wrangler's:
 *
 *     .wrangler/state/      the state folder; `persistTo` names another
 *       v3/                 the folder of Miniflare
 *         store/, dns/, …   a folder for each plugin
 */
import { join, resolve } from "node:path";

/** @param persistTo relative to the working directory, as wrangler has it */
export function stateFolder(projectFolder: string, persistTo?: string): string {
  return persistTo === undefined ? join(projectFolder, ".wrangler", "state") : resolve(persistTo);
}

/** Miniflare's `resourcePersistencePath`. */
export function persistPath(state: string): string {
  return join(state, "v3");
}

/** Miniflare's `getPersistPath()`, without Miniflare. */
export function pluginFolder(state: string, pluginName: string): string {
  return join(persistPath(state), pluginName);
}
