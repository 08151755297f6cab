/** `ledge dns trust` */
import type { LeafCommand } from "../command.ts";
import { configSelection, projectOptions } from "../options.ts";
import { print } from "../output.ts";
import { projectZones } from "./dns-session.ts";
import { describeSteps, trustSteps } from "./trust-steps.ts";

export const trust: LeafCommand = {
  name: "trust",
  summary: "Says how systems and programs trust the certificate of https",
  details:
    "Each state folder has an authority of its own, which certifies loopback and the https_names of\n" +
    "[dns] and nothing else. This command changes no system. ledge dns run needs no trust.",
  options: projectOptions,
  examples: ["ledge dns trust", "ledge dns trust --json"],

  async run(invocation) {
    const { readConfig } = await import("../../config/read-config.ts");
    const { readDnsConfig } = await import("../../dns/config/dns-config.ts");
    const { openAuthority } = await import("../../dns/server/https-port.ts");
    const project = readConfig({ ...configSelection(invocation), keysOptional: true });
    const { folder, variables } = await projectZones(invocation, project);
    const authority = openAuthority(folder, readDnsConfig(variables).httpsNames);
    const { certificatePath: path, names } = authority;
    const { name, fingerprint, notAfter } = authority.details;
    const steps = trustSteps({ path, name });
    const value = { name, path, fingerprint, names, expires: notAfter.toISOString(), steps };
    const head = [
      `Authority    ${name}`,
      `Certificate  ${path}`,
      `SHA-256      ${fingerprint}`,
      `Names        ${["localhost", "*.localhost", "127.0.0.1", "::1", ...names].join(", ")}`,
      `Expires      ${notAfter.toISOString().slice(0, 10)}`,
    ];
    print(invocation, value, `${head.join("\n")}\n\n${describeSteps(steps)}`);
  },
};
