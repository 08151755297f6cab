/** `ledge s3` and `ledge explore`: servers that run until a signal ends the command. */
import type { ProjectConfig } from "../config/read-config.ts";
import {
  adoptOption,
  configOptions,
  configSelection,
  exitCode,
  persistOption,
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
      console.log(renderS3({ url: server.url, ...server.credentials }).join("\n"));
      return server;
    });
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
): Promise<never> {
  const { portMax } = await import("../base/ports.ts");
  const { readConfig } = await import("../config/read-config.ts");
  const { ownSignals, watchShell } = await import("../dev/signals.ts");
  const config = readConfig(configSelection(invocation));
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
  const server = await start(config, options);
  const code = await ended.promise;
  releaseShell();
  await server.close();
  releaseSignals();
  process.exit(code);
}
