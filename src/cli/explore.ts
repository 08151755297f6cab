/** `ledge explore`: serves the explorer of a project until a signal ends the command. */
import { exitCode, type LeafCommand } from "./command.ts";
import {
  adoptOption,
  configOptions,
  configSelection,
  integerOption,
  projectOptions,
  textOption,
} from "./options.ts";

export const explore: LeafCommand = {
  name: "explore",
  summary: "Opens a page for the buckets and zones of a project",
  details:
    "The page shows and changes the buckets, the zones and what happens in them. Other processes\n" +
    "can use the same state at the same time, such as ledge dev, which serves this page by itself.\n" +
    "The printed link has a token that gives access; the page is on loopback only.",
  arguments: [],
  options: {
    ...configOptions,
    ...adoptOption,
    "persist-to": projectOptions["persist-to"],
    port: {
      value: "PORT",
      summary: "The port; if it is in use, the next free port",
      default: "8790",
    },
    "no-open": { summary: "Prints the link, and opens no browser" },
  },
  examples: ["ledge explore", "ledge explore --persist-to ./state --no-open"],

  async run(invocation) {
    const { portMax } = await import("../base/ports.ts");
    const { readConfig } = await import("../config/read-config.ts");
    const { ownSignals, watchShell } = await import("../dev/signals.ts");
    const { openBrowser } = await import("../dev/open-browser.ts");
    const { exploreProject } = await import("./explore-project.ts");
    const config = readConfig(configSelection(invocation));
    const ended = Promise.withResolvers<void>();
    const releaseSignals = ownSignals(() => ended.resolve());
    const releaseShell = watchShell(() => ended.resolve());
    const explorer = await exploreProject(config, {
      port: integerOption(invocation, "port", portMax),
      persistTo: textOption(invocation, "persist-to"),
    });
    console.log(`Explorer   ${explorer.url}`);
    const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
    if (isTerminal && invocation.options["no-open"] !== true) void openBrowser(explorer.url);
    await ended.promise;
    releaseShell();
    await explorer.close();
    releaseSignals();
    process.exit(exitCode.done);
  },
};
