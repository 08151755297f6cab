/** `ledge s3`: serves the buckets by the S3-compatible API until a signal ends the command. */
import { exitCode, type LeafCommand } from "./command.ts";
import {
  adoptOption,
  configOptions,
  configSelection,
  defined,
  integerOption,
  projectOptions,
  textOption,
} from "./options.ts";

export const s3: LeafCommand = {
  name: "s3",
  summary: "Serves the buckets by the S3-compatible API",
  details:
    "Clients of S3 use the buckets of the project: with the address and the credentials that the\n" +
    'command prints, the region "auto", and names of buckets in the path or before localhost. Other\n' +
    "processes can use the same buckets at the same time, such as ledge dev, which serves this API\n" +
    "by itself.",
  arguments: [],
  options: {
    ...configOptions,
    ...adoptOption,
    "persist-to": projectOptions["persist-to"],
    port: {
      value: "PORT",
      summary: "The port; if it is in use, the next free port",
      default: "8789",
    },
  },
  examples: ["ledge s3", "ledge s3 --port 9000 --persist-to ./state"],

  async run(invocation) {
    const { portMax } = await import("../base/ports.ts");
    const { readConfig } = await import("../config/read-config.ts");
    const { ownSignals, watchShell } = await import("../dev/signals.ts");
    const { renderS3 } = await import("../dev/summary.ts");
    const { projectS3Options } = await import("../s3/server.ts");
    const { startS3 } = await import("../s3/server.ts");
    const config = readConfig(configSelection(invocation));
    const options = defined<{ port?: number; persistTo?: string }>({
      port: integerOption(invocation, "port", portMax),
      persistTo: textOption(invocation, "persist-to"),
    });
    const ended = Promise.withResolvers<void>();
    const releaseSignals = ownSignals(() => ended.resolve());
    const releaseShell = watchShell(() => ended.resolve());
    const server = await startS3(projectS3Options(() => config, options));
    console.log(renderS3({ url: server.url, ...server.credentials }).join("\n"));
    await ended.promise;
    releaseShell();
    await server.close();
    releaseSignals();
    process.exit(exitCode.done);
  },
};
