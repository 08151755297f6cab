/**
 * The explorer of a project without a dev server of ours: its buckets, and its zones when the page asks for them.
 */
import { basename } from "node:path";
import { shownPath } from "../config/config-file.ts";
import type { ProjectConfig } from "../config/read-config.ts";
import { readDnsConfig } from "../dns/config/dns-config.ts";
import { findListeners } from "../dns/server/zones-connection.ts";
import { findZonesOwner, zonesFolder } from "../dns/server/zones-owner.ts";
import type { DnsAccess } from "../explorer/server/call.ts";
import {
  explorerHeaders,
  explorerBuckets,
  usedBuckets,
  serveExplorer,
  type ExplorerParts,
  type RunningExplorer,
} from "../explorer/server/start-explorer.ts";
import { placeNames } from "../saved/difference.ts";
import { findServer, readOrMakeCredentials } from "../s3/state-files.ts";
import { pluginFolder, stateFolder } from "../state/folder.ts";

export interface ExploreOptions {
  readonly port?: number;
  readonly persistTo?: string;
  /** The URL of the script; `null` while no server has one. Default: there is none. */
  readonly scriptUrl?: () => string | null;
}

/** @param config a function, because the configuration may change while the explorer runs */
export async function exploreProject(
  config: () => ProjectConfig,
  { port, persistTo, scriptUrl = () => null }: ExploreOptions,
): Promise<RunningExplorer> {
  const { folder, path } = config();
  const state = stateFolder(folder, persistTo);
  const zones = projectZones(config(), zonesFolder(folder, persistTo));
  const s3: ExplorerParts["s3"] = () => {
    const s3Folder = pluginFolder(state, "s3");
    const url = findServer(s3Folder);
    if (url === null) return null;
    const { credentials = readOrMakeCredentials(s3Folder), secretPlace } = config().s3;
    return { url, credentials, secretPlace };
  };
  const buckets = () => explorerBuckets(config());
  const explorer = await serveExplorer(
    { stateFolder: state, buckets, configFile: path ?? undefined, port },
    {
      bindings: () => usedBuckets(config()),
      project: async () => ({
        name: basename(folder),
        stateFolder: shownPath(state, process.cwd()),
        scriptUrl: scriptUrl(),
        links: [],
        wranglerUrl: null,
        dns: zones.known(),
        hasRequests: false,
      }),
      s3,
      folderState: () => ({
        seed: async () => {
          // With the runtime that reads a seed.
          const { projectSeed } = await import("./seeded-state.ts");
          return projectSeed({ configs: [config()], stateFolder: state })();
        },
        names: placeNames(config().table),
      }),
      dns: zones.access,
      runningDns: zones.running,
    },
  );
  return {
    ...explorer,
    close: async () => {
      await explorer.close();
      await zones.close();
    },
  };
}

/** The zones of a project, through the process that serves them, or else served by this process. */
function projectZones(config: ProjectConfig, folder: string) {
  const { variables } = config.dns;
  let found: ReturnType<typeof findListeners> | null = null;
  let known: DnsAccess | null = null;
  const close = async (): Promise<void> => {
    const closed = found;
    found = null;
    const server = await closed?.catch(() => null);
    await server?.stop?.();
  };
  const access = async (): Promise<DnsAccess> => {
    // The process that had the zones may have ended.
    if (found !== null && (await findZonesOwner(folder)) === null) await close();
    found ??= findListeners({ folder, variables }, config.dns);
    const { url, dns } = await found.catch((error: unknown) => {
      found = null;
      throw error;
    });
    const { email, key } = readDnsConfig(variables);
    return (known = {
      apiUrl: new URL(url).origin,
      addresses: dns === null ? [] : [`${dns.host}:${dns.port}`],
      headers: explorerHeaders({ email, key }),
    });
  };
  return {
    access,
    close,
    /** `null` until the page has asked for zones: DNS takes a runtime and a thread. */
    known: () => known,
    /** `null` while no process serves the zones. */
    running: async () => ((await findZonesOwner(folder))?.addresses == null ? null : access()),
  };
}
