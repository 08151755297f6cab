/** What the zones of a state folder have for a name, asked of the process that owns the zones. */
import { existsSync } from "node:fs";
import { json } from "node:stream/consumers";
import { request } from "../../base/node-http.ts";
import { pluginFolder } from "../../state/folder.ts";
import { socketPath } from "../../state/sockets.ts";
import { zoneViewMilliseconds, type ZoneView } from "../core/edge-table.ts";
import { zoneViewPath } from "../zones/view-zone.ts";

/** @returns `null` if no zone has the name, or no process that answers serves the zones */
export async function readZoneView(stateFolder: string, host: string): Promise<ZoneView | null> {
  const folder = pluginFolder(stateFolder, "dns");
  if (!existsSync(folder)) return null;
  return new Promise((resolve, reject) => {
    const outgoing = request({
      socketPath: socketPath(folder, "api"),
      path: `${zoneViewPath}?host=${encodeURIComponent(host)}`,
      agent: false,
      headers: { host: "dns" },
      signal: AbortSignal.timeout(zoneViewMilliseconds),
    });
    outgoing.once("error", () => resolve(null));
    outgoing.once("response", (response) => {
      if (response.statusCode === 200)
        json(response).then((view) => resolve(view as ZoneView), reject);
      else {
        response.resume();
        resolve(null);
      }
    });
    outgoing.end();
  });
}
