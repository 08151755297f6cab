import { join, resolve } from "node:path";

/** Where the zones of a project are kept. */
export function zonesFolder(projectFolder: string, persistTo?: string): string {
  return resolve(projectFolder, persistTo ?? join(".wrangler", "state"), "v3", "dns");
}
