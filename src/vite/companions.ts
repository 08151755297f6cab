/**
 * What runs beside the server of Vite, in the same process: the explorer and the S3-compatible API.
 *
 * A restart of Vite makes a new server, with new plugins, before the old server closes. Both servers have the
 * companions of their state folder: the new server takes over, and the server that has them closes them.
 */
import { resolve } from "node:path";
import { styleText } from "node:util";
import type { Plugin, PreviewServer, ViteDevServer } from "vite";
import { simulatorNews } from "../config/deployed-buckets.ts";
import type { ProjectConfig } from "../config/read-config.ts";
import { CompanionS3 } from "../dev/companion-s3.ts";
import { exploreProject } from "../dev/explore-project.ts";
import { secretText } from "../dev/summary.ts";
import type { RunningExplorer } from "../explorer/server/start-explorer.ts";
import { pluginFolder } from "../state/folder.ts";
import type { WorkerConfigs } from "./worker-configs.ts";

export interface CompanionOptions {
  readonly adopt: boolean | undefined;
  readonly explorer: boolean | undefined;
  readonly explorerPort: number | undefined;
  readonly s3: boolean | undefined;
  readonly s3Port: number | undefined;
}

type Server = ViteDevServer | PreviewServer;

interface Companions {
  /** The server that has the companions, and its project: the entry, with the buckets of all scripts. */
  server: Server;
  project: ProjectConfig;
  explorer: Promise<RunningExplorer> | null;
  s3: CompanionS3 | null;
}

const byStateFolder = new Map<string, Companions>();

/** Of "Network" and a space, the longest of Vite's own titles. */
const titleCharacters = 8;

/** The plugin that starts and closes the companions, and that follows changes of the configuration files. */
export function companionsPlugin(configs: WorkerConfigs, options: CompanionOptions): Plugin {
  const paths = (): string[] => configs.projects.flatMap(({ path }) => path ?? []);
  return {
    name: "ledge:vite",
    // The wrapped plugin does both for the files that it has read, which are copies.
    config: () => ({ server: { fs: { deny: paths() } } }),
    async configureServer(server) {
      const followed = new Set(paths());
      server.watcher.add([...followed]);
      server.watcher.on("change", (path) => {
        if (followed.has(resolve(path))) void server.restart();
      });
      await startCompanions(server, configs, options);
    },
    configurePreviewServer: (server) => startCompanions(server, configs, options),
  };
}

async function startCompanions(
  server: Server,
  { projects, options: { persistState = true } }: WorkerConfigs,
  options: CompanionOptions,
): Promise<void> {
  const [entry] = projects;
  if (entry === undefined || persistState === false) return;
  const path = typeof persistState === "object" ? persistState.path : ".wrangler/state";
  const state = resolve(server.config.root, path);
  const project = { ...entry, buckets: projects.flatMap(({ buckets }) => buckets) };
  let companions = byStateFolder.get(state);
  if (companions === undefined) {
    companions = makeCompanions(server, project, state, options);
    byStateFolder.set(state, companions);
    const adopting = options.adopt === true ? null : "ledge({ adopt: true })";
    const simulator = pluginFolder(state, "r2");
    const news = projects.flatMap((each) => simulatorNews(each, adopting, simulator));
    for (const text of news) server.config.logger.warn(text);
  } else Object.assign(companions, { server, project });
  await companions.s3?.update();
  showWith(server, await companions.explorer, companions.s3);
  closeWith(server, state);
}

function makeCompanions(
  server: Server,
  project: ProjectConfig,
  state: string,
  { explorer, explorerPort: port, s3, s3Port }: CompanionOptions,
): Companions {
  const made: Companions = { server, project, explorer: null, s3: null };
  if (s3 !== false) made.s3 = new CompanionS3(() => made.project, { s3Port, persistTo: state });
  if (explorer === false) return made;
  made.explorer = exploreProject(() => made.project, {
    port,
    persistTo: state,
    scriptUrl: () => made.server.resolvedUrls?.local[0] ?? null,
  });
  return made;
}

/** Adds lines, in the style of Vite, to those that Vite prints about its server. */
function showWith(server: Server, explorer: RunningExplorer | null, s3: CompanionS3 | null): void {
  const printUrls = server.printUrls.bind(server);
  server.printUrls = () => {
    printUrls();
    const { logger } = server.config;
    if (explorer !== null) logger.info(addressLine("Explorer", explorer.url));
    const access = s3?.describe() ?? null;
    if (access === null) return;
    logger.info(addressLine("S3 API", access.url));
    const keys = `key id ${access.credentials.accessKeyId}, secret ${secretText(access)}`;
    logger.info(styleText("dim", `     ${keys}`));
  };
}

function addressLine(name: string, url: string): string {
  const space = " ".repeat(Math.max(1, titleCharacters - name.length));
  return `  ${styleText("green", "➜")}  ${styleText("bold", name)}:${space}${styleText("cyan", url)}`;
}

function closeWith(server: Server, state: string): void {
  const close = server.close.bind(server);
  server.close = async () => {
    const companions = byStateFolder.get(state);
    if (companions?.server === server) {
      byStateFolder.delete(state);
      await companions.s3?.stop();
      await (await companions.explorer)?.close();
    }
    await close();
  };
}
