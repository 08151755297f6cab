/** `ledge dev`: runs a script with its buckets and DNS until a signal ends the session. */
import { UserError } from "../base/user-error.ts";
import type { LogLevel, StartDevOptions } from "../dev/dev-options.ts";
import {
  adoptOption,
  configFilesOptions,
  configSelection,
  persistOption,
  UsageError,
  type LeafCommand,
} from "./command.ts";
import { keepConsolePlain } from "./output.ts";

export const dev: LeafCommand = {
  name: "dev",
  summary: "Runs a script with its buckets and DNS",
  details:
    "This is wrangler's dev server. It bundles the sources, reloads the script when a source\n" +
    "changes, and provides every binding of the configuration file, store_buckets included.\n" +
    "All ports are on loopback. The record API answers requests for loopback names and for the\n" +
    "hosts in api_hosts of [dns].",
  arguments: [["[SCRIPT]", "The script, instead of the configuration's main"]],
  options: {
    ...configFilesOptions,
    ...adoptOption,
    "--cwd DIR": "The folder in which the command runs (default: the working folder)",
    "--name NAME": "The name of the script (default: the configuration's)",
    "-p, --port PORT":
      "The port of the script; if it is in use, the next free port (default: 8787)",
    "--ip ADDRESS":
      "The address to listen on; names of zones, routes and buckets lead somewhere on loopback only, elsewhere every " +
      "host is the script's (default: localhost)",
    "--host HOST":
      "The host in the URLs of requests, as the script sees them " +
      "(default: the host of the first route, or the address)",
    "--local-upstream HOST": "The same as --host, if --host is missing",
    "--upstream-protocol http|https": "The protocol in the URLs of requests (default: http)",
    "--infer-origin-from-routes [true|false]":
      "Whether the first route gives the host in the URLs of requests (default: true)",
    "--routes PATTERN...": "A route, instead of the configuration's",
    "--local-protocol http|https": "The protocol of the script (default: http)",
    "--https-key-path FILE": "The private key for https (default: one of wrangler's)",
    "--https-cert-path FILE": "The certificate for https (default: one of wrangler's)",
    "--inspector-port PORT":
      "Starts the inspector, for debuggers, on this port (default: no inspector)",
    "--inspector-ip ADDRESS": "The address of the inspector (default: 127.0.0.1)",
    ...persistOption,
    "--from NAME": "Starts from this saved state; what is there is saved first",
    "--seed FOLDER":
      "Starts from this seed, instead of the configuration's; what is there is saved first (docs/configuration.md)",
    "--ephemeral": "Keeps the state in a temporary folder, which ends with the server",
    "-l, --local": "Simulates bindings with remote: true on this machine",
    "--enable-containers [true|false]":
      "Whether to build containers (default: the configuration's)",
    "--var NAME:VALUE...": "A variable of the script",
    "--env-file FILE...": "A file with secrets, instead of .dev.vars and .env",
    "--assets DIR": "The folder of static files (default: the configuration's)",
    "--define NAME:TEXT...": "Replaces a name in the script by a text, such as an expression",
    "--alias NAME:MODULE...": "Replaces a module that the script imports",
    "--minify [true|false]": "Whether to minify the script (default: the configuration's)",
    "--bundle [true|false]":
      "Whether to bundle the script; --no-bundle runs the files as they are (default: true)",
    "--tsconfig FILE": "The tsconfig.json of the script (default: the configuration's)",
    "--jsx-factory NAME": "The function that makes JSX elements (default: the configuration's)",
    "--jsx-fragment NAME": "The function that makes JSX fragments (default: the configuration's)",
    "--compatibility-date DATE":
      "The compatibility date of the script (default: the configuration's)",
    "--compatibility-flags FLAG...": "A compatibility flag, instead of the configuration's",
    "--live-reload [true|false]":
      "Reloads HTML pages in the browser when the script changes (default: false)",
    "--test-scheduled [true|false]":
      "A request for /__scheduled calls the script's scheduled() (default: false)",
    "--store-latency MS": "Delays each operation of buckets (default: 0)",
    "--no-s3": "Serves no S3-compatible API",
    "--s3-port PORT":
      "The port of the S3-compatible API; if it is in use, the next free port (default: 8789)",
    "--no-explorer": "Serves no explorer",
    "--explorer-port PORT":
      "The port of the explorer; if it is in use, the next free port (default: 8790)",
    "--no-dns": "Starts no DNS server",
    "--dns-port PORT": "The port of the DNS server (default: 8053)",
    "--dns-api-port PORT": "The port of the record API (default: 8788)",
    "--fault SPEC...":
      "A fault of buckets, METHOD:BUCKET[/KEY]:EFFECT[:OPTION,…] (docs/testing.md), or of DNS queries, " +
      "dns:KIND:NAME[/TYPE][:OPTION,…] (docs/testing-dns.md)",
    "--log-requests": "Says where each request for a name leads: record, route, script or bucket",
    "--log-level LEVEL": "none, error, warn, info, log or debug (default: info)",
    "--show-interactive-dev-session [true|false]":
      "Whether the session reads keys from the terminal (default: true on a terminal)",
  },
  wranglerOptions: {
    "--compatibility-flag": "--compatibility-flags",
    "--route": "--routes",
    "-r, --remote":
      "the script always runs on this machine. For a deployed resource, write remote: true in its " +
      "binding, or run wrangler dev --remote.",
    "--latest":
      "it does nothing: the runtime is the newest that wrangler depends on. Leave it out.",
    "--types": 'wrangler\'s types lack store_buckets. Run "ledge types" instead.',
    "--tunnel, --tunnel-name, --tunnel-allowed-mail":
      "a tunnel needs an account. Run cloudflared tunnel --http-host-header localhost --url with the URL of " +
      "the script instead.",
    "--site, --site-include, --site-exclude":
      "Workers Sites is deprecated. Use --assets DIR, or site in the configuration file.",
    "--node-compat": "wrangler has removed it, too. Use --compatibility-flags nodejs_compat.",
    "--profile": "Ledge signs in nowhere. Set CLOUDFLARE_API_TOKEN for bindings with remote: true.",
    "--install-skills": "it is no matter of a dev server. Run wrangler --install-skills.",
    "--experimental-provision, --x-provision, --experimental-auto-create, --x-auto-create":
      "it is a matter of deploys. Leave it out.",
    "--experimental-new-config, --x-new-config":
      "Ledge reads wrangler.jsonc, wrangler.json and wrangler.toml. Leave it out.",
    "-v, --version": "it is an option of the whole command. Run ledge --version.",
  },
  choices: {
    "local-protocol": ["http", "https"],
    "upstream-protocol": ["http", "https"],
    "log-level": ["none", "error", "warn", "info", "log", "debug"] satisfies LogLevel[],
  },
  examples: [
    "ledge dev",
    "ledge dev --adopt",
    "ledge dev -c shop/wrangler.jsonc -c payments/wrangler.jsonc",
    "ledge dev src/index.ts --env staging --port 3000",
    "ledge dev --ephemeral --seed ./seed",
    "ledge dev --store-latency 50 --no-dns",
    "ledge dev --fault 'put:photos/*:10001' --fault 'get:*:slow=2s:probability=0.1'",
    "ledge dev --fault dns:servfail:www.example.com/A:times=2",
    "ledge dev --env-file .env.local --var GREETING:hello",
  ],

  async run(invocation, script?: string) {
    // These modules load the runtime and node:net, which `--help` does not need.
    const { portMax } = await import("../base/ports.ts");
    const { parseFaultSpec } = await import("../config/fault-spec.ts");
    const { latencyMillisecondsMax } = await import("../store/config/store-buckets.ts");
    const { runTerminalSession } = await import("../dev/terminal-session.ts");
    const workingFolder = invocation.text("cwd");
    if (workingFolder !== undefined) process.chdir(workingFolder);
    const faults = invocation.list("fault");
    for (const fault of faults ?? []) checkFault(fault, parseFaultSpec);
    const port = (name: string) => invocation.integer(name, portMax);
    const options: StartDevOptions = {
      ...configSelection(invocation),
      auxiliaryConfigPaths: invocation.list("config")?.slice(1),
      script,
      name: invocation.text("name"),
      port: port("port"),
      ip: invocation.text("ip"),
      host: invocation.text("host") ?? invocation.text("local-upstream"),
      upstreamProtocol: invocation.text<"http" | "https">("upstream-protocol"),
      inferOriginFromRoutes: invocation.boolean("infer-origin-from-routes"),
      routes: invocation.list("routes"),
      localProtocol: invocation.text<"http" | "https">("local-protocol"),
      httpsKeyPath: invocation.text("https-key-path"),
      httpsCertPath: invocation.text("https-cert-path"),
      inspectorPort: port("inspector-port"),
      inspectorIp: invocation.text("inspector-ip"),
      persistTo: invocation.text("persist-to"),
      from: invocation.text("from"),
      seed: invocation.text("seed"),
      ephemeral: invocation.flag("ephemeral"),
      remoteBindings: invocation.flag("local") ? false : undefined,
      enableContainers: invocation.boolean("enable-containers"),
      variables: invocation.pairs("var", ":"),
      envFiles: invocation.list("env-file"),
      assets: invocation.text("assets"),
      define: invocation.pairs("define", ":"),
      alias: invocation.pairs("alias", ":"),
      minify: invocation.boolean("minify"),
      bundle: invocation.boolean("bundle"),
      tsconfig: invocation.text("tsconfig"),
      jsxFactory: invocation.text("jsx-factory"),
      jsxFragment: invocation.text("jsx-fragment"),
      compatibilityDate: invocation.text("compatibility-date"),
      compatibilityFlags: invocation.list("compatibility-flags"),
      liveReload: invocation.boolean("live-reload"),
      testScheduled: invocation.boolean("test-scheduled"),
      storeLatencyMilliseconds: invocation.integer("store-latency", latencyMillisecondsMax),
      s3: invocation.flag("no-s3") ? false : undefined,
      s3Port: port("s3-port"),
      explorer: invocation.flag("no-explorer") ? false : undefined,
      explorerPort: port("explorer-port"),
      dns: invocation.flag("no-dns") ? false : undefined,
      dnsPort: port("dns-port"),
      dnsApiPort: port("dns-api-port"),
      faults,
      logRequests: invocation.flag("log-requests"),
      logLevel: invocation.text<LogLevel>("log-level"),
    };
    keepConsolePlain();
    const isInteractive = invocation.boolean("show-interactive-dev-session") ?? true;
    const code = await runTerminalSession(options, {
      interactive: isInteractive && process.stdin.isTTY && process.stdout.isTTY,
    });
    // The session has stopped everything. Handles that are still open must not keep the process.
    process.exit(code);
  },
};

/** A fault that cannot be read is a wrong argument. */
function checkFault(fault: string, parse: (fault: string) => unknown): void {
  try {
    parse(fault);
  } catch (error) {
    throw error instanceof UserError ? new UsageError(error.message) : error;
  }
}
