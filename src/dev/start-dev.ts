/**
 * Starts a dev server: checks the options and the state folder, and starts DNS while wrangler loads.
 *
 * The companion worker has a runtime of its own, so that saving a script does not interrupt DNS
 * (`docs/decisions/0008-dns-in-its-own-runtime.md`).
 */
import { UserError } from "../base/user-error.ts";
import { loadWrangler } from "../base/wrangler.ts";
import { readConfig } from "../config/read-config.ts";
import {
  persistPath,
  pluginFolder,
  requireUsableFolder,
  requireWritableFolder,
  stateFolder,
} from "../state/folder.ts";
import { storeNeeds } from "../store/node/store-owner.ts";
import { CompanionDns } from "./companion-dns.ts";
import {
  checkOptions,
  logLevelDefault,
  scriptOptions,
  type StartDevOptions,
} from "./dev-options.ts";
import { DevServer, type RunningDev } from "./dev-server.ts";
import { prepareState, type InitialState } from "./initial-state.ts";
import { checkRemotes } from "./summary.ts";
import { enterEnvironment, jointConfig } from "./worker-input.ts";

export async function startDev(options: StartDevOptions = {}): Promise<RunningDev> {
  return startDevServer(options);
}

export async function startDevServer(given: StartDevOptions): Promise<DevServer> {
  checkOptions(given);
  const leaveEnvironment = enterEnvironment({
    // wrangler's own watch of the file would reload the script with the old configuration.
    WRANGLER_CI_DISABLE_CONFIG_WATCHING: "true",
    // Keeps Miniflare from fetching request.cf over the network.
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    WRANGLER_LOG: given.logLevel ?? logLevelDefault,
  });
  let initial: InitialState | null = null;
  const leave = (): void => {
    leaveEnvironment();
    initial?.remove();
  };
  let server: DevServer | undefined;
  let dns: CompanionDns | null = null;
  try {
    initial = await prepareState(given);
    const { options } = initial;
    const config = jointConfig(scriptOptions(options).map((each) => readConfig(each)));
    const state = stateFolder(config.folder, options.persistTo);
    // wrangler would show an error with a stack, its own or the error of our plugin.
    if (config.buckets.length > 0) {
      requireUsableFolder(pluginFolder(state, "store"), { ...storeNeeds, reserveKept: true });
    } else requireWritableFolder(persistPath(state));
    const remotes = await checkRemotes(config.buckets, pluginFolder(state, "store"));
    if (options.dns !== false) {
      dns = new CompanionDns(config, options, (news) => server?.reportDns(news));
    }
    const startingDns = dns?.start() ?? Promise.resolve();
    startingDns.catch(() => {});
    // wrangler blocks the process while it loads. The runtime of DNS starts meanwhile.
    await Promise.race([startingDns, dns?.launched]);
    loadWrangler();
    server = new DevServer(options, { dns, startingDns, initial, leave }, remotes);
    await Promise.all([startingDns, server.start()]);
    return server;
  } catch (error) {
    await (server?.stop() ?? dns?.stop());
    leave();
    throw error instanceof UserError
      ? error
      : new UserError((error as Error).message, { cause: error });
  }
}
