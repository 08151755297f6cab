/**
 * The dev server: a script with its buckets in wrangler's dev server, and the companion worker.
 *
 * A change of the configuration file takes effect when the file is saved; while the file has mistakes, the
 * previous configuration stays in use.
 */
import { basename, resolve } from "node:path";
import { stopMilliseconds, within } from "../base/concurrency.ts";
import { findFreePort } from "../base/ports.ts";
import { saveBytecode } from "../base/loading.ts";
import { UserError } from "../base/user-error.ts";
import { shownPath } from "../config/config-file.ts";
import { simulatorNews } from "../config/deployed-buckets.ts";
import { newsOf, withPlace, type ProjectConfig } from "../config/read-config.ts";
import { type BucketBinding } from "../store/config/store-buckets.ts";
import { usedRemotes } from "../store/config/remotes.ts";
import { ActivityLog, ChangeFeed } from "../explorer/server/activity-log.ts";
import { type DnsAccess, CallError } from "../explorer/server/call.ts";
import {
  explorerBuckets,
  usedBuckets,
  serveExplorer,
  type RunningExplorer,
} from "../explorer/server/start-explorer.ts";
import { noFaults, StoreFaults } from "../explorer/server/faults.ts";
import { placeNames } from "../saved/difference.ts";
import type { StateControl } from "../saved/state-control.ts";
import { pluginFolder, stateFolder } from "../state/folder.ts";
import { renderWay } from "../edge/core/way.ts";
import { DevEdge } from "../edge/node/dev-edge.ts";
import { hasRuntimeSockets } from "../state/sockets.ts";
import type { ServedParts } from "../testing/dev-controls.ts";
import { accessOf, type CompanionDns } from "./companion-dns.ts";
import { CompanionS3 } from "./companion-s3.ts";
import { logLevelDefault, scriptOptions, type StartDevOptions } from "./dev-options.ts";
import { clashNews, edgeLinks, edgeProfile, proxiedNames } from "./edge-profile.ts";
import { DevState } from "./dev-state.ts";
import { observeScript, ScriptConsole } from "./script-console.ts";
import type { InitialState } from "./initial-state.ts";
import { ScriptSupervisor, watchConfig } from "./script-supervisor.ts";
import {
  checkRemotes,
  connectionNews,
  networkUrlsOf,
  renderDns,
  renderSummary,
  urlOf,
  wranglerExplorerUrl,
  type RemoteSummary,
} from "./summary.ts";
import {
  hiddenBindings,
  jointConfig,
  readProjects,
  workerInput,
  wranglerWarnings,
  type Project,
} from "./worker-input.ts";

export interface RunningDev {
  /** The URL of the script. It does not change while the dev server runs. */
  readonly url: string;
  /** The URL of the explorer, with a token that gives access; `null` without an explorer. */
  readonly explorerUrl: string | null;
  readonly buckets: readonly BucketBinding[];
  /** The state folder. */
  readonly persistFolder: string;
  /** Settles when the script answers, also after failed builds and starts. */
  readonly ready: Promise<void>;
  /** For `testControl()`. */
  readonly served: ServedParts;
  /** The text that the command prints at the start: addresses, zones and bindings, as they are now. */
  summary(): Promise<string>;
  /** Saves, restores and resets the state while the server runs. */
  readonly state: StateControl;
  /** Restarts the runtime of the script. */
  restart(): Promise<void>;
  /** Stops the script and DNS. A second call returns the same promise. */
  stop(): Promise<void>;
}

const portDefault = 8787;
/** The first requests come before the code of wrangler is saved, which blocks the process. */
const codeSaveMilliseconds = 1000;

/** The last line of a message that says why the script does not run. */
export const waitingText = "Waiting for a change.";

export interface DevServerParts {
  readonly dns: CompanionDns | null;
  readonly startingDns: Promise<void>;
  readonly initial: InitialState;
  /** Called when the server has stopped. */
  readonly leave: () => void;
}

export class DevServer implements RunningDev {
  readonly #options: StartDevOptions;
  readonly state: DevState;
  readonly #console: ScriptConsole;
  readonly #ready = Promise.withResolvers<void>();
  readonly #parts: DevServerParts;
  readonly #s3: CompanionS3 | null;
  /** Those of `--fault`, until the explorer changes them. */
  readonly #faults: StoreFaults;
  readonly #explorerChanges = new ChangeFeed();
  #explorer: RunningExplorer | null = null;
  /** `null` before the start, and on Windows. */
  #edge: DevEdge | null = null;
  /** Of the script that has the address, then of the scripts beside it. */
  #projects: readonly Project[];
  #remotes: readonly RemoteSummary[];
  /** The scripts that dev servers of this machine ran when the user was told last. */
  #runningScripts: ReadonlySet<string> = new Set();
  #supervisor: ScriptSupervisor | null = null;
  #hostname = "localhost";
  #port = 0;
  /** `null` without an inspector. */
  #inspector: { readonly hostname: string; readonly port: number } | null = null;
  #endWatch: () => void = () => {};
  /** The message for the next time that the script answers; `null` for the summary. */
  #readyMessage: (() => string | Promise<string>) | null = null;
  #changes: Promise<void> = Promise.resolve();
  #reports: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | undefined;

  constructor(options: StartDevOptions, parts: DevServerParts, remotes: readonly RemoteSummary[]) {
    this.#options = options;
    this.#parts = parts;
    this.#remotes = remotes;
    this.#console = new ScriptConsole(options.logLevel ?? logLevelDefault);
    this.#projects = readProjects(options);
    this.#s3 = options.s3 === false ? null : new CompanionS3(() => this.#config, options);
    this.state = new DevState({
      base: parts.initial.base,
      seed: parts.initial.seed,
      stateFolder: this.persistFolder,
      edge: () => (options.explorer === false ? null : this.#edge),
      dns: parts.dns,
      names: () => placeNames(this.#config.table),
      restart: (act) => this.restart(act),
      onRestored: (news) => {
        this.#report(() => this.#log(news));
        this.#explorerChanges.add({ topic: "all" });
      },
    });
    this.#faults = new StoreFaults({
      folder: pluginFolder(this.persistFolder, "store"),
      bucketNames: async () => [...usedBuckets(this.#config).keys()],
      remoteNames: () => [...usedRemotes(this.#config.buckets).keys()],
      dns: () => this.#dnsAccess(),
    });
  }

  get url(): string {
    return urlOf(this.#address);
  }

  get explorerUrl(): string | null {
    return this.#explorer?.url ?? null;
  }

  /** The address of the inspector; `null` without an inspector. */
  get inspector(): string | null {
    if (this.#inspector === null) return null;
    return new URL(urlOf({ protocol: "http", ...this.#inspector })).host;
  }

  /** The name of the script in tools that show several. */
  get scriptName(): string | undefined {
    return this.#options.name ?? this.#first.wrangler.name;
  }

  get buckets(): readonly BucketBinding[] {
    return this.#config.buckets;
  }

  get persistFolder(): string {
    return stateFolder(this.#config.folder, this.#options.persistTo);
  }

  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  get served(): ServedParts {
    return {
      storeFolder: pluginFolder(this.persistFolder, "store"),
      bucketNames: () => {
        const remotes = usedRemotes(this.#config.buckets);
        return [...usedBuckets(this.#config).keys()].filter((name) => !remotes.has(name));
      },
      dns: () => this.#dnsAccess(),
    };
  }

  async start(): Promise<void> {
    const { wrangler } = this.#first;
    this.#warn();
    this.#hostname = this.#options.ip ?? wrangler.dev.ip;
    this.#port = await this.#choosePort(this.#options.port ?? wrangler.dev.port ?? portDefault);
    const inspectorPort = this.#options.inspectorPort ?? wrangler.dev.inspector_port;
    if (inspectorPort !== undefined) {
      const { inspectorIp: hostname = "127.0.0.1" } = this.#options;
      this.#inspector = { hostname, port: await findFreePort(inspectorPort, hostname) };
    }
    this.#startEdge();
    this.#supervisor = new ScriptSupervisor({
      inputs: this.#inputs(),
      paths: this.#projects.map(({ config, wrangler: { main } }, index) => {
        const script = index === 0 ? this.#options.script : undefined;
        return resolve(script ?? main ?? config.folder);
      }),
      console: this.#console,
      onReady: () => this.#report(() => this.#onReady()),
      onFailure: (problem) => this.#report(() => this.#onFailure(problem)),
      onReload: ({ proxyData }) => this.#edge?.lead(proxyData),
      onConnection: () => this.#report(() => this.#onConnection()),
      onCrash: (cause, program) => this.#onCrash(cause, program),
    });
    // Before the runtime starts: then its first call waits for the faults.
    await this.#holdFaults();
    await Promise.all([this.#supervisor.start(), this.#s3?.update(), this.#startExplorer()]);
    const { envFiles = [] } = this.#options;
    const files = this.#projects.flatMap(({ config }) => config.path ?? []);
    const watched = [...files, ...envFiles];
    const watches = watched.map((path) =>
      watchConfig(resolve(path), () => {
        this.#changes = this.#changes.then(() => this.#reconfigure());
      }),
    );
    this.#endWatch = () => watches.forEach((end) => end());
  }

  async restart(act?: () => Promise<void>): Promise<void> {
    this.#readyMessage &&= () => "Restarted.";
    await this.#supervisor?.restart(act);
    await this.#supervisor?.settled();
  }

  async summary(): Promise<string> {
    const dns = await this.#parts.dns?.describe();
    const { faults, problem } = await this.#faults.read();
    const { scripts = [], runningScripts = new Set<string>() } = this.#supervisor ?? {};
    this.#runningScripts = runningScripts;
    return renderSummary(
      {
        url: this.url,
        links: this.#links(await proxiedNames(this.persistFolder, dns?.zones ?? [])),
        networkUrls: networkUrlsOf(this.#address),
        explorerUrl: this.explorerUrl,
        wranglerExplorerUrl: wranglerExplorerUrl(this.url, scripts),
        inspector: this.inspector,
        stateFolder: this.persistFolder,
        stateNotes: this.#parts.initial.notes,
        dns: dns ?? null,
        s3: this.#s3?.describe() ?? null,
        remotes: this.#remotes,
        faults: [...faults.map(({ text }) => text), ...(problem === null ? [] : [problem])],
        scripts,
        runningScripts,
        hidden: hiddenBindings,
        storeLatencyMilliseconds: this.#options.storeLatencyMilliseconds ?? 0,
      },
      process.cwd(),
    );
  }

  /** Tells the user of a change of DNS that no change of the configuration has caused. */
  reportDns(news: string): void {
    this.#report(async () => {
      const dns = await this.#parts.dns?.describe();
      if (dns !== undefined) this.#log([news, ...renderDns(dns)].join("\n"));
    });
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop().finally(this.#parts.leave));
  }

  async #stop(): Promise<void> {
    this.#endWatch();
    // An interrupt from the terminal may have ended the runtimes already.
    this.#supervisor?.expectStop();
    await this.state.idle(stopMilliseconds);
    await Promise.all([this.#s3?.stop(), this.#explorer?.close(), this.#edge?.stop()]);
    // The script first: an `unsafe` binding to DNS would take over the zones that DNS gives up.
    await this.#supervisor?.stop();
    await this.#faults.close();
    await within(stopMilliseconds, this.#parts.dns?.stop() ?? Promise.resolve());
  }

  get #first(): Project {
    return this.#projects[0] as Project;
  }

  get #config(): ProjectConfig {
    return jointConfig(this.#projects.map(({ config }) => config));
  }

  get #address() {
    const protocol = this.#options.localProtocol ?? this.#first.wrangler.dev.local_protocol;
    return { protocol, hostname: this.#hostname, port: this.#port };
  }

  get #edgeProfile() {
    return edgeProfile(this.#projects, this.#options, { url: this.url, hostname: this.#hostname });
  }

  /** To names that lead here. */
  #links(proxied: readonly string[]): string[] {
    return this.#edge === null ? [] : edgeLinks(this.#edgeProfile, proxied);
  }

  #startEdge(): void {
    // workerd has no sockets there by which the edge could reach zones and origins.
    if (!hasRuntimeSockets) return;
    const profile = this.#edgeProfile;
    this.#edge = new DevEdge(this.persistFolder, profile);
    for (const news of clashNews(profile, this.#edge.others)) this.#log(news);
    this.#console.onWay = (way) => {
      if (this.#options.logRequests === true) this.#log(renderWay(way));
    };
  }

  async #choosePort(wanted: number): Promise<number> {
    const port = await findFreePort(wanted, this.#hostname);
    if (wanted !== 0 && port !== wanted) this.#log(`Port ${wanted} is taken: using ${port}.`);
    return port;
  }

  /**
   * Puts the faults of `--fault` in force, until the explorer changes them.
   *
   * @throws UserError for a fault that could hit no call
   */
  async #holdFaults(): Promise<void> {
    const { faults = [] } = this.#options;
    if (faults.length === 0) return;
    try {
      await this.#faults.change({ ...noFaults, faults });
    } catch (error) {
      throw error instanceof CallError ? new UserError(error.message) : error;
    }
  }

  /** Starts the explorer: a page for the buckets, the zones and what happens. */
  async #startExplorer(): Promise<void> {
    if (this.#options.explorer === false) return;
    const activity = new ActivityLog();
    observeScript(this.#console, activity);
    const config = (): ProjectConfig => this.#config;
    const dns = () => this.#dnsAccess();
    this.#explorer = await serveExplorer(
      {
        stateFolder: this.persistFolder,
        buckets: () => explorerBuckets(config()),
        configFile: config().path ?? undefined,
        port: this.#options.explorerPort,
      },
      {
        dns,
        runningDns: async () => {
          const found = await this.#parts.dns?.locate();
          return found?.state === "on demand" ? null : accessOf(found, config());
        },
        faults: this.#faults,
        state: this.state,
        activity,
        changes: this.#explorerChanges,
        bindings: () => usedBuckets(config()),
        project: async () => {
          const access = await dns();
          return {
            name: this.scriptName ?? basename(config().folder),
            stateFolder: shownPath(this.persistFolder, process.cwd()),
            scriptUrl: this.url,
            links: this.#links([]),
            wranglerUrl: wranglerExplorerUrl(this.url, this.#supervisor?.scripts),
            dns: access && { apiUrl: access.apiUrl, addresses: access.addresses },
            hasRequests: true,
          };
        },
        s3: () => this.#s3?.describe() ?? null,
      },
    );
  }

  async #dnsAccess(): Promise<DnsAccess | null> {
    return accessOf(await this.#parts.dns?.locate(), this.#config);
  }

  #inputs(): ReturnType<typeof workerInput>[] {
    const surroundings = {
      hostname: this.#hostname,
      port: this.#port,
      inspector: this.#inspector,
      hasDns: this.#parts.dns !== null,
      isObserved: this.#options.explorer !== false,
      memberId: this.#edge?.id ?? null,
      console: this.#console,
      stateFolder: this.persistFolder,
    };
    const options = scriptOptions(this.#options);
    return this.#projects.map((project, index) => {
      const isPrimary = this.#projects.length === 1 ? undefined : index === 0;
      return workerInput(project, options[index] ?? {}, { ...surroundings, isPrimary });
    });
  }

  async #reconfigure(): Promise<void> {
    const previous = this.#projects;
    try {
      const projects = readProjects(this.#options);
      const buckets = projects.flatMap(({ config }) => config.buckets);
      this.#remotes = await checkRemotes(buckets, pluginFolder(this.persistFolder, "store"));
      this.#projects = projects;
      this.#warn();
      await this.#parts.dns?.update(this.#config);
      await this.#s3?.update();
      this.#edge?.update(this.#edgeProfile);
      this.#readyMessage = async () => `The configuration has changed.\n${await this.summary()}`;
      await this.#supervisor?.update(this.#inputs());
    } catch (error) {
      this.#projects = previous;
      this.#log(`${(error as Error).message}\nThe previous configuration stays in use.`);
    }
  }

  async #onReady(): Promise<void> {
    // The summary has the addresses of DNS. If DNS fails, the start fails.
    await this.#parts.startingDns;
    await this.#faults.renew();
    const message = this.#readyMessage ?? (() => this.summary());
    this.#readyMessage = () => "Reloaded.";
    this.#log(await message());
    this.#explorerChanges.add({ topic: "project" }, { topic: "buckets" }, { topic: "zones" });
    this.#ready.resolve();
    setTimeout(saveBytecode, codeSaveMilliseconds).unref();
  }

  #onFailure(problem: string | null): void {
    const text = problem ?? "";
    const places = this.#projects.map(({ config }) => withPlace(config, text));
    const said = places.find((each) => each !== text) ?? text;
    this.#log([...(said === "" ? [] : [said]), waitingText].join("\n"));
  }

  #onConnection(): void {
    // The summary tells of the connections at the start.
    if (this.#readyMessage === null || this.#supervisor === null) return;
    const { scripts, runningScripts } = this.#supervisor;
    const news = connectionNews(scripts, this.#runningScripts, runningScripts);
    this.#runningScripts = runningScripts;
    if (news.length > 0) this.#log(news.join("\n"));
  }

  #onCrash(cause: string, program: string): void {
    this.#log(`${cause} ended the ${program}. Starting it again.`);
    this.#readyMessage &&= () => "Running again, with the buckets as they were.";
  }

  #warn(): void {
    const { adopt, persistTo } = this.#options;
    const adopting = adopt === true ? null : '"ledge dev --adopt"';
    const simulator = persistTo === undefined ? pluginFolder(this.persistFolder, "r2") : null;
    for (const { config } of this.#projects) {
      const warnings = [...newsOf(config), ...wranglerWarnings(config)];
      for (const news of [...warnings, ...simulatorNews(config, adopting, simulator)])
        this.#log(news);
    }
  }

  /** Reports to the user, in the order of the calls. The end of the server needs no reports. */
  #report(act: () => void | Promise<void>): void {
    this.#reports = this.#reports
      .then(() => (this.#stopping === undefined ? act() : undefined))
      .catch((error: Error) => {
        if (this.#stopping === undefined) this.#log(error.message);
      });
  }

  #log(text: string): void {
    (this.#options.log ?? console.log)(text);
  }
}
