/** `ledge build`: makes a folder that workerd serves without Node. */
import { linesIf } from "../base/format.ts";
import { configOptions, configSelection, jsonOption, type LeafCommand } from "./command.ts";
import { print } from "./output.ts";

export const build: LeafCommand = {
  name: "build",
  summary: "Makes a folder that workerd serves without Node",
  details:
    "Bundles the script by wrangler, and writes a configuration of workerd, the modules and a README.md.\n" +
    "All buckets must be on S3 services (remote, docs/production.md). The command asks each service what\n" +
    "it honours, so it needs the keys; the folder has neither keys nor secrets, which workerd takes from\n" +
    "its environment. Secrets are the names in .dev.vars and in secrets.required.",
  options: {
    ...configOptions,
    "--outdir DIR":
      "The folder to write; it is empty, new, or of an earlier build " +
      "(default: dist-edge beside the configuration file)",
    "--ip ADDRESS": "The address to listen at (default: 127.0.0.1)",
    "--port PORT": "The port to listen at (default: 8080)",
    "--status-port PORT":
      "The port on loopback of /healthz, /readyz and /metrics; 0: none (default: 8081)",
    "--secret NAME...": "A secret that the script reads from its environment",
    "--no-probe": "Asks no S3 service what it honours: each runtime asks before its first write",
    ...jsonOption,
  },
  examples: [
    "ledge build",
    "ledge build --env production --outdir /srv/edge",
    "ledge build --ip 0.0.0.0 --port 8080 --secret API_TOKEN",
  ],

  async run(invocation) {
    const { portMax } = await import("../base/ports.ts");
    const { buildProject } = await import("../build/build-project.ts");
    const { shownPath } = await import("../config/config-file.ts");
    const made = await buildProject({
      ...configSelection(invocation),
      outdir: invocation.text("outdir"),
      ip: invocation.text("ip"),
      port: invocation.integer("port", portMax),
      statusPort: invocation.integer("status-port", portMax),
      secrets: invocation.list("secret"),
      probe: !invocation.flag("no-probe"),
    });
    const { folder, files, services, required, optional, workerdVersion, remarks, command } = made;
    const shown = shownPath(folder);
    const variables = [...required, ...optional.map((name) => `${name} (for temporary keys)`)];
    const lines = [
      `Written to ${shown}:`,
      ...files.map((path) => `  ${path}`),
      ...linesIf(services.length > 0, "", "S3 services:"),
      ...services.map((line) => `  ${line}`),
      ...linesIf(variables.length > 0, "", "workerd needs in its environment:"),
      ...variables.map((name) => `  ${name}`),
      ...linesIf(remarks.length > 0, "", ...remarks),
      "",
      `Run it with workerd ${workerdVersion}:`,
      `  cd ${shown} && ${command}`,
    ];
    print(invocation, made, lines.join("\n"));
  },
};
