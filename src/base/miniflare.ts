/**
 * Miniflare: which copy Ledge uses, and what Ledge uses of its internals.
 *
 * A project can have several copies of Miniflare: wrangler, the vitest pool and the Vite plugin
 * each depend on an exact version. A class or a symbol of one copy means nothing to another copy. So
 * a plugin uses the copy that is calling, which is on the stack, and never the copy that an import
 * would resolve to.
 *
 * The options of Miniflare 5 change between its prereleases. The functions below write both forms.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import * as util from "node:util";
import type * as Miniflare from "miniflare";
import { loadWithBytecode } from "./loading.ts";
import { checkVersion, packageOfModule } from "./package-version.ts";
import { UserError } from "./user-error.ts";

export type MiniflareModule = typeof Miniflare;

const require = createRequire(import.meta.url);

/** The copy that has called a plugin last. */
let lastCaller: MiniflareModule | undefined;
let lastCallerFile: string | undefined;
const checkedFiles = new Set<string>();

/**
 * The copy of Miniflare that is calling. For functions of a plugin, before their first `await`.
 *
 * @throws UserError for a copy that is too old
 */
export function callingMiniflare(): MiniflareModule {
  for (const file of callingFiles()) {
    // The file is running, so the module is loaded. A tool can have bundled Miniflare into a file
    // whose exports are others.
    const exported = require.cache[file]?.exports as Partial<MiniflareModule> | undefined;
    if (exported?.ProxyNodeBinding === undefined) continue;
    checkCopy(file);
    lastCallerFile = file;
    return (lastCaller = exported as MiniflareModule);
  }
  return loadMiniflare();
}

/** The depth of the stack between a function of a plugin and this module. */
const framesMax = 12;

function* callingFiles(): Generator<string> {
  // A name that Node 20 does not have must not be imported by name (`node-version.ts`).
  for (const { scriptName } of util.getCallSites(framesMax, { sourceMap: false })) {
    if (scriptName.startsWith("file:")) yield fileURLToPath(scriptName);
    else if (scriptName !== "" && !scriptName.startsWith("node:")) yield scriptName;
  }
}

function checkCopy(file: string): void {
  if (checkedFiles.has(file)) return;
  const found = packageOfModule(file);
  if (found?.name === "miniflare") checkVersion("miniflare", found.version, found.folder);
  checkedFiles.add(file);
}

/**
 * Miniflare for a runtime that Ledge starts: the copy that has called a plugin in this process, or
 * the copy of wrangler, or the copy of the project. `require()` is 55 ms faster than `import()`
 * (`loadWrangler()` says why).
 */
export function loadMiniflare(): MiniflareModule {
  if (lastCaller !== undefined) return lastCaller;
  const file = resolveMiniflare();
  checkCopy(file);
  loadWithBytecode(file);
  return require(file) as MiniflareModule;
}

/** The program of the runtime that the same copy of Miniflare would start. */
export function workerdPath(): string {
  const given = process.env["MINIFLARE_WORKERD_PATH"];
  if (given !== undefined) return given;
  const file = lastCallerFile ?? resolveMiniflare();
  checkCopy(file);
  return (createRequire(file)("workerd") as { readonly default: string }).default;
}

function resolveMiniflare(): string {
  for (const resolve of [
    () => createRequire(require.resolve("wrangler")).resolve("miniflare"),
    () => require.resolve("miniflare"),
  ]) {
    try {
      return resolve();
    } catch {
      continue;
    }
  }
  throw new UserError(
    "Ledge found neither wrangler nor miniflare. Install wrangler: npm install --save-dev wrangler",
  );
}

/**
 * A binding for `getBindings()` in Node, whose behaviour is `handler`, or Miniflare's own.
 *
 * A copy of Miniflare that did not make the binding hands out the binding itself, which has no
 * methods of a bucket. So every property that is read throws an error that says so.
 */
export function nodeProxy(handler?: ProxyHandler<object>): Miniflare.ProxyNodeBinding {
  const { ProxyNodeBinding } = callingMiniflare();
  return new Proxy(new ProxyNodeBinding(handler), {
    get(target, property, receiver) {
      // Miniflare reads the field, `await` reads `then`, and inspection reads symbols.
      if (
        property === "proxyOverrideHandler" ||
        property === "then" ||
        typeof property !== "string"
      ) {
        return Reflect.get(target, property, receiver) as unknown;
      }
      throw new UserError(
        "This binding belongs to another copy of Miniflare than the one that made it, because the " +
          "process has loaded several copies. Keep one copy: run npm ls miniflare, and install the " +
          "version that wrangler depends on.",
      );
    },
  });
}

/** The service of a script, for a socket or as a consumer of traces. */
export function scriptService(name: string): string {
  return `core:user:${name}`;
}

interface DevOptions {
  unsafeDirectSockets?: DirectSocket[];
  outboundService?: object;
}

export interface DirectSocket {
  readonly host?: string;
  readonly port?: number;
  readonly serviceName?: string;
  readonly entrypoint?: string;
}

/** Miniflare reads the sockets after it has asked the plugins for services. */
export function directSockets(worker: Miniflare.ParsedWorkerOptions): readonly DirectSocket[] {
  return (worker as { dev?: DevOptions }).dev?.unsafeDirectSockets ?? [];
}

export function setDirectSockets(
  worker: Miniflare.ParsedWorkerOptions,
  sockets: readonly DirectSocket[],
): void {
  ((worker as { dev?: DevOptions }).dev ??= {}).unsafeDirectSockets = [...sockets];
}

interface OutboundService {
  readonly workerName: string;
  readonly exportName: string;
  readonly props: Readonly<Record<string, unknown>>;
}

/**
 * Leads the `fetch()` of a worker to an entrypoint, unless the options already lead it elsewhere. Miniflare reads the
 * service after it has asked the plugins for extensions. Earlier prereleases read `workerName`, later ones `worker`.
 */
export function setOutbound(worker: Miniflare.ParsedWorkerOptions, service: OutboundService): void {
  const dev: DevOptions = ((worker as { dev?: DevOptions }).dev ??= {});
  dev.outboundService ??= { type: "worker", worker: service.workerName, ...service };
}

interface TailConsumers {
  tailConsumers?: readonly { readonly worker: string }[];
  experimental?: { streamingTailConsumers?: readonly { readonly worker: string }[] };
}

/**
 * Gives a worker a consumer of its traces. Miniflare may read the same options twice. Earlier prereleases read
 * `workerName`, later ones `worker`. Since 5.20261117, consumers of streams have a list of their own: in the
 * other list, workerd would ask the consumer for a handler that the consumer does not have.
 */
export function addTailConsumer(
  miniflare: Partial<MiniflareModule>,
  { config }: Pick<Miniflare.ParsedWorkerOptions, "config">,
  name: string,
  { isStreaming = false }: { readonly isStreaming?: boolean } = {},
): void {
  const observed = config as TailConsumers;
  const isInOwnList = isStreaming && hasStreamList(miniflare);
  const streaming = isStreaming && !isInOwnList && { streaming: true };
  const added = { workerName: name, worker: name, ...streaming };
  const list =
    (isInOwnList ? observed.experimental?.streamingTailConsumers : observed.tailConsumers) ?? [];
  const consumers = [...list.filter(({ worker }) => worker !== name), added];
  if (isInOwnList) {
    observed.experimental = { ...observed.experimental, streamingTailConsumers: consumers };
  } else observed.tailConsumers = consumers;
}

function hasStreamList({ MiniflareWorkerConfigSchema: schema }: Partial<MiniflareModule>): boolean {
  const experimental = { streamingTailConsumers: [] };
  const config = { name: "script", compatibilityDate: "2026-08-01", experimental };
  return schema?.safeParse(config).success === true;
}

type WorkerConfig = Miniflare.MiniflareWorkerConfig;

/**
 * The configuration of a worker in the form that a copy of Miniflare accepts. Earlier prereleases
 * have `type` in the configuration and `workerName` in bindings, later ones neither.
 */
export function acceptedConfig(
  { MiniflareWorkerConfigSchema: schema }: Partial<MiniflareModule>,
  config: WorkerConfig,
): WorkerConfig {
  const renamed = { ...config, env: withWorkerNames(config.env) };
  const forms = [config, renamed].flatMap((form) => [form, { type: "worker", ...form }]);
  // Without a form that it accepts, Miniflare reports the mistakes of the latest form.
  return (forms as WorkerConfig[]).find((form) => schema?.safeParse(form).success) ?? config;
}

function withWorkerNames(env: WorkerConfig["env"] = {}): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(env).map(([name, binding]) => {
      if (!("worker" in binding)) return [name, binding];
      const { worker: workerName, ...rest } = binding;
      return [name, { ...rest, workerName }];
    }),
  );
}

const failedUrls = new AsyncLocalStorage<string | undefined>();

/**
 * The URL of the request whose exception Miniflare reports at this moment. Miniflare says the exception
 * only (`handleUncaughtError`), while Miniflare answers a request of its runtime that says the URL, too.
 *
 * @returns `undefined` before `watchFailedUrls()`
 */
export function failedUrl(): string | undefined {
  return failedUrls.getStore();
}

export function watchFailedUrls(): void {
  unsubscribe("http.server.request.start", keepFailedUrl);
  subscribe("http.server.request.start", keepFailedUrl);
}

/** Every HTTP server of this process tells of its requests: others can send anything to this path. */
function keepFailedUrl(message: unknown): void {
  const { url, headers } = (message as { readonly request: IncomingMessage }).request;
  if (url !== "/core/error") return;
  const [, text] = /"prettyErrorOriginalUrl":"([^"]*)"/.exec(String(headers["mf-cf-blob"])) ?? [];
  failedUrls.enterWith(text?.replaceAll("\\\\", "\\"));
}
