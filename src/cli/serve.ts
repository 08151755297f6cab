/** `ledge s3`, `ledge dns serve` and `ledge explore`: servers that run until a signal ends the command. */
import { isIP } from "node:net";
import { resolve } from "node:path";
import type { ProjectConfig } from "../config/read-config.ts";
import {
  adoptOption,
  configOptions,
  configSelection,
  exitCode,
  persistOption,
  UsageError,
  type Invocation,
  type LeafCommand,
  type OptionTable,
} from "./command.ts";
import { signalCode } from "./run.ts";

export const s3: LeafCommand = {
  name: "s3",
  summary: "Serves the buckets by the S3-compatible API",
  details:
    "Clients of S3 use the buckets of the project: with the address and the credentials that the\n" +
    'command prints, the region "auto", and names of buckets in the path or before localhost. Other\n' +
    "processes can use the same buckets at the same time, such as ledge dev, which serves this API\n" +
    "by itself.",
  options: serverOptions("8789"),
  examples: ["ledge s3", "ledge s3 --port 9000 --persist-to ./state"],

  async run(invocation) {
    const { renderS3 } = await import("../dev/summary.ts");
    const { projectS3Options, startS3 } = await import("../s3/server.ts");
    await serveUntilSignal(invocation, async (config, options) => {
      const server = await startS3(projectS3Options(() => config, options));
      const { secretPlace } = config.s3;
      console.log(renderS3({ ...server, secretPlace }).join("\n"));
      return server;
    });
  },
};

export const serveDns: LeafCommand = {
  name: "serve",
  summary: "Serves the zones: record API, and DNS over HTTPS, TLS, UDP and TCP",
  details:
    "This is DNS without a script: the command needs no configuration file, and reads [dns] of one.\n" +
    "Other commands use the zones of this server while it runs. The record API is on loopback.",
  options: {
    ...configOptions,
    ...persistOption,
    "-p, --port PORT":
      "The port of the record API and of DNS over HTTPS; if it is in use, another free port " +
      "(default: api_port of [dns], or 8788)",
    "--dns-port PORT":
      "The port of UDP and TCP; if it is in use, another free port (default: port of [dns], or 8053)",
    "--https-port PORT":
      "Serves the record API and DNS over HTTPS by TLS, too, at this port (default: https_port of [dns])",
    "--tls-port PORT": "Serves DNS over TLS at this port (default: tls_port of [dns])",
    "--host ADDRESS...":
      "An address for UDP, TCP and DNS over TLS (default: hosts of [dns], or 127.0.0.1 and ::1)",
    "--fault SPEC...":
      "A fault of queries, KIND:NAME[/TYPE][:OPTION,…] (docs/testing-dns.md), " +
      "until ledge dns faults clear",
  },
  examples: [
    "ledge dns serve",
    "ledge dns serve --dns-port 53 --host 0.0.0.0",
    "ledge dns serve --https-port 8443 --tls-port 8853",
    "ledge dns serve --fault servfail:www.example.com/A:times=2",
  ],

  async run(invocation) {
    const { portMax } = await import("../base/ports.ts");
    const { ApiClient } = await import("../dns/client/api-client.ts");
    const { readDnsConfig } = await import("../dns/config/dns-config.ts");
    const { startProjectDns } = await import("../dns/server/start-dns.ts");
    const { parseQueryFault } = await import("./dns/query-faults.ts");
    const faults = (invocation.list("fault") ?? []).map((spec) => parseQueryFault(spec, "--fault"));
    const hosts = invocation.list("host");
    for (const host of hosts ?? []) {
      if (isIP(host) !== 0) continue;
      throw new UsageError(`--host must be an address such as 127.0.0.1, not "${host}".`);
    }
    const portOf = (name: string) => invocation.integer(name, portMax);
    const ports = {
      dnsPort: portOf("dns-port"),
      httpsPort: portOf("https-port"),
      tlsPort: portOf("tls-port"),
    };
    const start: Parameters<typeof serveUntilSignal>[1] = async ({ folder, dns }, options) => {
      const { port, persistTo } = options;
      const lines: string[] = [];
      const listen = hosts && { listen: { ...dns.listen, hosts, hostsOptional: false } };
      const server = await startProjectDns(
        { folder, dns: { ...dns, ...listen } },
        {
          ...ports,
          port,
          // As in wrangler, --persist-to is relative to the working folder.
          persistTo: persistTo && resolve(persistTo),
          log: (text) => void lines.push(text),
        },
      );
      try {
        const api = new ApiClient(server.url, readDnsConfig(dns.variables));
        for (const fault of faults) await api.addQueryFault(fault);
      } catch (error) {
        await server.stop();
        throw error;
      }
      // The faults are in force when the addresses are known.
      console.log(lines.join("\n"));
      return { close: () => server.stop() };
    };
    // DNS needs no keys of remote buckets.
    await serveUntilSignal(invocation, start, { keysOptional: true });
  },
};

export const explore: LeafCommand = {
  name: "explore",
  summary: "Opens a page for the buckets and zones of a project",
  details:
    "The page shows and changes the buckets, the zones and what happens in them. Other processes\n" +
    "can use the same state at the same time, such as ledge dev, which serves this page by itself.\n" +
    "The printed link has a token that gives access; the page is on loopback only.",
  options: {
    ...serverOptions("8790"),
    "--no-open": "Prints the link, and opens no browser",
  },
  examples: ["ledge explore", "ledge explore --persist-to ./state --no-open"],

  async run(invocation) {
    const { openBrowser } = await import("../dev/open-browser.ts");
    const { exploreProject } = await import("../dev/explore-project.ts");
    await serveUntilSignal(invocation, async (config, options) => {
      const explorer = await exploreProject(() => config, options);
      console.log(`Explorer   ${explorer.url}`);
      const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
      if (isTerminal && !invocation.flag("no-open")) void openBrowser(explorer.url);
      return explorer;
    });
  },
};

function serverOptions(portDefault: string): OptionTable {
  return {
    ...configOptions,
    ...adoptOption,
    ...persistOption,
    "-p, --port PORT": `The port; if it is in use, the next free port (default: ${portDefault})`,
  };
}

interface ServerOptions {
  readonly port?: number;
  readonly persistTo?: string;
}

async function serveUntilSignal(
  invocation: Invocation,
  start: (config: ProjectConfig, options: ServerOptions) => Promise<{ close(): Promise<void> }>,
  { keysOptional = false } = {},
): Promise<never> {
  const { portMax } = await import("../base/ports.ts");
  const { readConfig } = await import("../config/read-config.ts");
  const { ownSignals, watchShell } = await import("../dev/signals.ts");
  const config = readConfig({ ...configSelection(invocation), keysOptional });
  const options = {
    port: invocation.integer("port", portMax),
    persistTo: invocation.text("persist-to"),
  };
  const ended = Promise.withResolvers<number>();
  let isEnding = false;
  const releaseSignals = ownSignals((signal) => {
    // The second signal does not wait.
    if (isEnding) process.exit(signalCode(signal));
    isEnding = true;
    // As of ledge dev: a supervisor that stops the server asks for its regular end.
    ended.resolve(signal === "SIGINT" ? signalCode(signal) : exitCode.done);
  });
  const releaseShell = watchShell(() => ended.resolve(exitCode.done));
  try {
    const server = await start(config, options);
    const code = await ended.promise;
    await server.close();
    process.exit(code);
  } finally {
    // A start that fails must not wait for the shell.
    releaseShell();
    releaseSignals();
  }
}
