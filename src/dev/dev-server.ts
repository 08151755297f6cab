/**
 * The dev server: a script with its buckets in wrangler's dev server, and the companion worker.
 *
 * The companion worker has a runtime of its own, so that saving a script does not interrupt DNS
 * (`docs/decisions/0008-dns-in-its-own-runtime.md`). A change of the configuration file takes effect
 * when the file is saved; while the file has mistakes, the previous configuration stays in use.
 */
import { resolve } from "node:path";
import { readConfig, type BucketBinding } from "../config/read-config.ts";
import { stopMilliseconds, within } from "../base/concurrency.ts";
import { findFreePort } from "../base/ports.ts";
import { loadWrangler } from "../base/wrangler.ts";
import { persistPath, pluginFolder, stateFolder } from "../base/state-folder.ts";
import { requireUsableFolder, requireWritableFolder, storeNeeds } from "../base/usable-folder.ts";
import { UserError } from "../base/user-error.ts";
import { endLeftRuntimes } from "../store/node/store-owner.ts";
import { CompanionDns } from "./companion-dns.ts";
import { watchConfig } from "./file-watch.ts";
import { checkOptions, logLevelDefault, type StartDevOptions } from "./dev-options.ts";
import { ScriptConsole } from "./script-console.ts";
import { ScriptSupervisor } from "./script-supervisor.ts";
import { renderSummary } from "./summary.ts";
import { inspectorHost, readProject, workerInput, type Project } from "./worker-input.ts";
import { wranglerWarnings } from "./wrangler-warnings.ts";

export interface RunningDev {
  /** The URL of the script. It does not change while the dev server runs. */
  readonly url: string;
  readonly buckets: readonly BucketBinding[];
  /** The state folder. */
  readonly persistFolder: string;
  /** Settles when the script answers, also after failed builds and starts. */
  readonly ready: Promise<void>;
  /** Restarts the runtime of the script. */
  restart(): Promise<void>;
  /** Stops the script and DNS. A second call returns the same promise. */
  stop(): Promise<void>;
}

const portDefault = 8787;

export async function startDev(options: StartDevOptions = {}): Promise<RunningDev> {
  checkOptions(options);
  // wrangler's own watch of the file would reload the script with the old configuration.
  process.env["WRANGLER_CI_DISABLE_CONFIG_WATCHING"] ??= "true";
  // Keeps Miniflare from fetching request.cf over the network.
  process.env["CLOUDFLARE_CF_FETCH_ENABLED"] ??= "false";
  process.env["WRANGLER_LOG"] ??= options.logLevel ?? logLevelDefault;
  const config = readConfig(options);
  const state = stateFolder(config.folder, options.persistTo);
  // wrangler would show an error with a stack, its own or the error of our plugin.
  if (config.buckets.length > 0) {
    requireUsableFolder(pluginFolder(state, "store"), { ...storeNeeds, reserveKept: true });
  } else requireWritableFolder(persistPath(state));
  const dns = options.dns === false ? null : new CompanionDns(config, options);
  // wrangler takes time to load, so it loads while DNS starts.
  const starting = dns?.start();
  loadWrangler();
  await starting;
  let server: DevServer | undefined;
  try {
    server = new DevServer(options, dns);
    await server.start();
    return server;
  } catch (error) {
    await (server?.stop() ?? dns?.stop());
    throw error instanceof UserError
      ? error
      : new UserError((error as Error).message, { cause: error });
  }
}

class DevServer implements RunningDev {
  readonly #options: StartDevOptions;
  readonly #console: ScriptConsole;
  readonly #ready = Promise.withResolvers<void>();
  readonly #dns: CompanionDns | null;
  #project: Project;
  #supervisor: ScriptSupervisor | null = null;
  #hostname = "localhost";
  #port = 0;
  /** `null` without an inspector. */
  #inspectorPort: number | null = null;
  #endWatch: () => void = () => {};
  /** The message for the next time that the script answers. */
  #readyMessage: () => string = () => this.#summary();
  #changes: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | undefined;

  constructor(options: StartDevOptions, dns: CompanionDns | null) {
    this.#options = options;
    this.#dns = dns;
    this.#console = new ScriptConsole(options.logLevel ?? logLevelDefault);
    this.#project = readProject(options);
  }

  get url(): string {
    const protocol = this.#options.localProtocol ?? this.#project.wrangler.dev.local_protocol;
    const isAnyAddress = ["*", "0.0.0.0", "::"].includes(this.#hostname);
    const shown = isAnyAddress ? "localhost" : this.#hostname;
    return `${protocol}://${shown.includes(":") ? `[${shown}]` : shown}:${this.#port}`;
  }

  get buckets(): readonly BucketBinding[] {
    return this.#project.config.buckets;
  }

  get persistFolder(): string {
    return stateFolder(this.#project.config.folder, this.#options.persistTo);
  }

  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  async start(): Promise<void> {
    const { config, wrangler } = this.#project;
    this.#warn();
    // A dev server that was killed has left a proxy at the port.
    await endLeftRuntimes(pluginFolder(this.persistFolder, "store"));
    this.#hostname = this.#options.ip ?? wrangler.dev.ip;
    this.#port = await this.#choosePort(this.#options.port ?? wrangler.dev.port ?? portDefault);
    const inspectorPort = this.#options.inspectorPort ?? wrangler.dev.inspector_port;
    if (inspectorPort !== undefined) {
      this.#inspectorPort = await findFreePort(inspectorPort, inspectorHost);
    }
    this.#supervisor = new ScriptSupervisor({
      input: this.#input(),
      script: resolve(this.#options.script ?? wrangler.main ?? config.folder),
      console: this.#console,
      onReady: () => this.#onReady(),
      onFailure: (problem) => this.#onFailure(problem),
      onCrash: (signal) => this.#onCrash(signal),
    });
    await this.#supervisor.start();
    const { envFiles = [] } = this.#options;
    const watched = [...(config.path === null ? [] : [config.path]), ...envFiles];
    const watches = watched.map((path) =>
      watchConfig(resolve(path), () => {
        this.#changes = this.#changes.then(() => this.#reconfigure());
      }),
    );
    this.#endWatch = () => watches.forEach((end) => end());
  }

  async restart(): Promise<void> {
    this.#readyMessage = () => "Restarted.";
    await this.#supervisor?.restart();
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  async #stop(): Promise<void> {
    this.#endWatch();
    // The script first: an `unsafe` binding to DNS would take over the zones that DNS gives up.
    await this.#supervisor?.stop();
    if (this.#dns !== null) await within(stopMilliseconds, this.#dns.stop());
  }

  async #choosePort(wanted: number): Promise<number> {
    const port = await findFreePort(wanted, this.#hostname);
    if (wanted !== 0 && port !== wanted) this.#log(`Port ${wanted} is taken: using ${port}.`);
    return port;
  }

  #input(): ReturnType<typeof workerInput> {
    return workerInput(this.#project, this.#options, {
      hostname: this.#hostname,
      port: this.#port,
      inspectorPort: this.#inspectorPort,
      hasDns: this.#dns !== null,
      console: this.#console,
    });
  }

  async #reconfigure(): Promise<void> {
    const previous = this.#project;
    try {
      this.#project = readProject(this.#options);
      this.#warn();
      await this.#dns?.update(this.#project.config);
      this.#readyMessage = () => `The configuration has changed.\n${this.#summary()}`;
      await this.#supervisor?.update(this.#input());
    } catch (error) {
      this.#project = previous;
      this.#log(`${(error as Error).message}\nThe previous configuration stays in use.`);
    }
  }

  #onReady(): void {
    if (this.#stopping !== undefined) return;
    this.#log(this.#readyMessage());
    this.#readyMessage = () => "Reloaded.";
    this.#ready.resolve();
  }

  #onFailure(problem: string | null): void {
    if (this.#stopping !== undefined) return;
    this.#log([...(problem === null ? [] : [problem]), "Waiting for a change."].join("\n"));
  }

  #onCrash(signal: string): void {
    this.#log(`${signal} ended the runtime. Starting it again.`);
    this.#readyMessage = () => "Running again, with the buckets as they were.";
  }

  #warn(): void {
    const { config } = this.#project;
    for (const warning of [...config.warnings, ...wranglerWarnings(config)]) this.#log(warning);
  }

  #summary(): string {
    return renderSummary(
      {
        url: this.url,
        inspector: this.#inspectorPort === null ? null : `${inspectorHost}:${this.#inspectorPort}`,
        buckets: this.buckets,
        storeFolder: pluginFolder(this.persistFolder, "store"),
        storeLatencyMilliseconds: this.#options.storeLatencyMilliseconds ?? 0,
        dns: this.#dns?.lines ?? [],
      },
      process.cwd(),
    );
  }

  #log(text: string): void {
    (this.#options.log ?? console.log)(text);
  }
}
