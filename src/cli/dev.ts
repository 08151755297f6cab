/** `ledge dev`: runs a script with its buckets and DNS until a signal ends the session. */
import { UserError } from "../base/user-error.ts";
import type { LogLevel, StartDevOptions } from "../dev/dev-options.ts";
import {
  adoptOption,
  configOptions,
  configSelection,
  exitCode,
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
    ...configOptions,
    ...adoptOption,
    "--port PORT": "The port of the script; if it is in use, the next free port (default: 8787)",
    "--ip ADDRESS": "The address to listen on (default: localhost)",
    "--host HOST":
      "The host in the URLs of requests, as the script sees them " +
      "(default: the host of the first route, or the address)",
    "--local-protocol http|https": "The protocol of the script (default: http)",
    "--inspector-port PORT":
      "Starts the inspector, for debuggers, on this port (default: no inspector)",
    ...persistOption,
    "--var NAME:VALUE...": "A variable of the script",
    "--env-file FILE...": "A file with secrets, instead of .dev.vars and .env",
    "--define NAME:TEXT...": "Replaces a name in the script by a text, such as an expression",
    "--compatibility-date DATE":
      "The compatibility date of the script (default: the configuration's)",
    "--live-reload": "Reloads HTML pages in the browser when the script changes",
    "--test-scheduled": "A request for /__scheduled calls the script's scheduled()",
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
    "--log-level LEVEL": "none, error, warn, info, log or debug (default: info)",
    "--show-interactive-dev-session true|false":
      "Whether the session reads keys from the terminal (default: true on a terminal)",
  },
  choices: {
    "local-protocol": ["http", "https"],
    "log-level": ["none", "error", "warn", "info", "log", "debug"] satisfies LogLevel[],
    "show-interactive-dev-session": ["true", "false"],
  },
  examples: [
    "ledge dev",
    "ledge dev --adopt",
    "ledge dev src/index.ts --env staging --port 3000",
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
    const faults = invocation.list("fault");
    for (const fault of faults ?? []) checkFault(fault, parseFaultSpec);
    const port = (name: string) => invocation.integer(name, portMax);
    const options: StartDevOptions = {
      ...configSelection(invocation),
      script,
      port: port("port"),
      ip: invocation.text("ip"),
      localProtocol: invocation.text<"http" | "https">("local-protocol"),
      inspectorPort: port("inspector-port"),
      persistTo: invocation.text("persist-to"),
      variables: invocation.pairs("var", ":"),
      host: invocation.text("host"),
      envFiles: invocation.list("env-file"),
      define: invocation.pairs("define", ":"),
      compatibilityDate: invocation.text("compatibility-date"),
      liveReload: invocation.flag("live-reload") || undefined,
      testScheduled: invocation.flag("test-scheduled") || undefined,
      storeLatencyMilliseconds: invocation.integer("store-latency", latencyMillisecondsMax),
      s3: invocation.flag("no-s3") ? false : undefined,
      s3Port: port("s3-port"),
      explorer: invocation.flag("no-explorer") ? false : undefined,
      explorerPort: port("explorer-port"),
      dns: invocation.flag("no-dns") ? false : undefined,
      dnsPort: port("dns-port"),
      dnsApiPort: port("dns-api-port"),
      faults,
      logLevel: invocation.text<LogLevel>("log-level"),
    };
    keepConsolePlain();
    const isInteractive = invocation.boolean("show-interactive-dev-session") ?? true;
    await runTerminalSession(options, {
      interactive: isInteractive && process.stdin.isTTY && process.stdout.isTTY,
    });
    // The session has stopped everything. Handles that are still open must not keep the process.
    process.exit(exitCode.done);
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
