/**
 * The dev server: a script with its buckets in wrangler's, and the companion worker beside it.
 *
 * The companion worker has a runtime of its own, so that saving a script does not interrupt DNS
 * (`docs/decisions/0008-dns-in-its-own-runtime.md`). What the configuration file says holds as
 * soon as it is saved; while it is wrong, what was right goes on.
 */
import { join, resolve } from "node:path";
import type * as WranglerModule from "wrangler";
import type { BucketBinding, ProjectConfig } from "../config/read-config.ts";
import { removeEndedRunRecords } from "../base/run-record.ts";
import { loadWrangler } from "../base/packages.ts";
import { UserError } from "../base/user-error.ts";
import { watchConfig } from "./config-watch.ts";
import { DevWorker } from "./dev-worker.ts";
import { DnsBeside } from "./dns-beside.ts";
import { freePort } from "../base/free-port.ts";
import { checkOptions, logLevelDefault, type StartDevOptions } from "./options.ts";
import {
  persistFolder,
  readProject,
  readProjectConfig,
  workerInput,
  type Project,
} from "./project.ts";
import { ScriptConsole } from "./script-console.ts";
import { renderSummary } from "./summary.ts";
import { stopMilliseconds, within } from "../base/timeout.ts";
import { wranglerWarnings } from "./wrangler-warnings.ts";

type Wrangler = Pick<typeof WranglerModule, "unstable_DevEnv" | "unstable_readConfig">;

export interface RunningDev {
  /** Of the script. It stays the same while it runs. */
  readonly url: string;
  readonly buckets: readonly BucketBinding[];
  /** Where state is kept. */
  readonly persistFolder: string;
  /** Settles when the script answers. One that cannot be built or started is waited for. */
  readonly ready: Promise<void>;
  /** Starts the script's runtime anew. */
  restart(): Promise<void>;
  /** Ends it all; once more is no error. */
  stop(): Promise<void>;
}

const portDefault = 8787;
const inspectorPortDefault = 9229;

export async function startDev(options: StartDevOptions = {}): Promise<RunningDev> {
  checkOptions(options);
  // wrangler's own look at the file would start the script with the one it already has.
  process.env["WRANGLER_CI_DISABLE_CONFIG_WATCHING"] ??= "true";
  // A local edge asks nobody where it is.
  process.env["CLOUDFLARE_CF_FETCH_ENABLED"] ??= "false";
  process.env["WRANGLER_LOG"] ??= options.logLevel ?? logLevelDefault;
  const config = readProjectConfig(options);
  const dns = dnsBeside(config, options);
  // Both take their time.
  const starting = dns?.start();
  const wrangler = loadWrangler();
  await starting;
  let server: DevServer | undefined;
  try {
    server = new DevServer(options, wrangler, dns);
    await server.start();
    return server;
  } catch (error) {
    await (server?.stop() ?? dns?.stop());
    throw error instanceof UserError
      ? error
      : new UserError((error as Error).message, { cause: error });
  }
}

function dnsBeside(config: ProjectConfig, options: StartDevOptions): DnsBeside | null {
  const { dns = true, dnsPort, dnsApiPort } = options;
  if (!dns) return null;
  return new DnsBeside(config, {
    persistTo: persistFolder(config, options),
    ...(dnsPort !== undefined && { dnsPort }),
    ...(dnsApiPort !== undefined && { apiPort: dnsApiPort }),
  });
}

class DevServer implements RunningDev {
  readonly #options: StartDevOptions;
  readonly #wrangler: Wrangler;
  readonly #console: ScriptConsole;
  readonly #ready = Promise.withResolvers<void>();
  readonly #dns: DnsBeside | null;
  #project: Project;
  #worker: DevWorker | null = null;
  #hostname = "localhost";
  #port = 0;
  #inspectorPort = 0;
  #endWatch: () => void = () => {};
  /** What to say when the script answers the next time. */
  #news: () => string = () => this.#summary();
  #changes: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | undefined;

  constructor(options: StartDevOptions, wrangler: Wrangler, dns: DnsBeside | null) {
    this.#options = options;
    this.#dns = dns;
    this.#wrangler = wrangler;
    this.#console = new ScriptConsole(options.logLevel ?? logLevelDefault);
    this.#project = readProject(options, wrangler.unstable_readConfig);
  }

  get url(): string {
    const protocol = this.#options.localProtocol ?? this.#project.wrangler.dev.local_protocol;
    const isEvery = ["*", "0.0.0.0", "::"].includes(this.#hostname);
    const shown = isEvery ? "localhost" : this.#hostname;
    return `${protocol}://${shown.includes(":") ? `[${shown}]` : shown}:${this.#port}`;
  }

  get buckets(): readonly BucketBinding[] {
    return this.#project.config.buckets;
  }

  get persistFolder(): string {
    return persistFolder(this.#project.config, this.#options);
  }

  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  async start(): Promise<void> {
    const { config, wrangler } = this.#project;
    this.#warn();
    this.#hostname = this.#options.ip ?? wrangler.dev.ip;
    this.#port = await this.#choosePort(this.#options.port ?? wrangler.dev.port ?? portDefault);
    this.#inspectorPort = await freePort(
      this.#options.inspectorPort ?? wrangler.dev.inspector_port ?? inspectorPortDefault,
      "127.0.0.1",
    );
    this.#worker = new DevWorker({
      wrangler: this.#wrangler,
      input: this.#input(),
      script: resolve(this.#options.script ?? wrangler.main ?? config.folder),
      console: this.#console,
      listener: {
        onReady: () => this.#onReady(),
        onFailure: (problem) => this.#onFailure(problem),
        onCrash: (signal) => this.#onCrash(signal),
      },
    });
    await this.#worker.start();
    if (config.path !== null) {
      this.#endWatch = watchConfig(config.path, () => {
        this.#changes = this.#changes.then(() => this.#reconfigure());
      });
    }
  }

  async restart(): Promise<void> {
    this.#news = () => "Restarted.";
    await this.#worker?.restart();
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  async #stop(): Promise<void> {
    this.#endWatch();
    await Promise.all([
      this.#worker?.stop(),
      this.#dns && within(stopMilliseconds, this.#dns.stop()),
    ]);
    await removeEndedRunRecords(join(this.persistFolder, "v3", "store", "runs"));
  }

  async #choosePort(wanted: number): Promise<number> {
    const port = await freePort(wanted, this.#hostname);
    if (wanted !== 0 && port !== wanted) this.#log(`Port ${wanted} is taken: using ${port}.`);
    return port;
  }

  #input(): ReturnType<typeof workerInput> {
    return workerInput(this.#project, this.#options, {
      hostname: this.#hostname,
      port: this.#port,
      inspectorPort: this.#inspectorPort,
      dns: this.#dns?.remote ?? null,
      console: this.#console,
    });
  }

  async #reconfigure(): Promise<void> {
    const previous = this.#project;
    try {
      this.#project = readProject(this.#options, this.#wrangler.unstable_readConfig);
      this.#warn();
      await this.#dns?.update(this.#project.config);
      this.#news = () => `The configuration has changed.\n${this.#summary()}`;
      await this.#worker?.update(this.#input());
    } catch (error) {
      this.#project = previous;
      this.#log(`${(error as Error).message}\nThe configuration before it stays in force.`);
    }
  }

  #onReady(): void {
    if (this.#stopping !== undefined) return;
    this.#log(this.#news());
    this.#news = () => "Reloaded.";
    this.#ready.resolve();
  }

  #onFailure(problem: string | null): void {
    if (this.#stopping !== undefined) return;
    this.#log([...(problem === null ? [] : [problem]), "Waiting for a change."].join("\n"));
  }

  #onCrash(signal: string): void {
    this.#log(`The runtime has been ended by ${signal}. Starting it again.`);
    this.#news = () => "Running again, with the buckets as they were.";
  }

  #warn(): void {
    const { config } = this.#project;
    const warnings = [
      ...config.warnings,
      ...wranglerWarnings(config, this.#wrangler.unstable_readConfig),
    ];
    for (const warning of warnings) this.#log(warning);
  }

  #summary(): string {
    return renderSummary(
      {
        url: this.url,
        buckets: this.buckets,
        storeFolder: join(this.persistFolder, "v3", "store"),
        storeLatencyMilliseconds: this.#options.storeLatencyMilliseconds ?? 0,
        dns: this.#dns?.said ?? [],
      },
      process.cwd(),
    );
  }

  #log(text: string): void {
    (this.#options.log ?? console.log)(text);
  }
}
