/** `ledge dns trust` and `ledge dns run`: clients that insist on https. */
import { readDnsConfig } from "../../dns/config/dns-config.ts";
import { projectOptions, type LeafCommand } from "../command.ts";
import { print } from "../output.ts";
import { findListeners, projectZones, readProject } from "./session.ts";

export const trust: LeafCommand = {
  name: "trust",
  summary: "Says how systems and programs trust the certificate of https",
  details:
    "Each state folder has an authority of its own, which certifies loopback and the https_names of\n" +
    "[dns] and nothing else. This command changes no system. ledge dns run needs no trust.",
  options: projectOptions,
  examples: ["ledge dns trust", "ledge dns trust --json"],

  async run(invocation) {
    const { openAuthority } = await import("../../dns/server/api-port.ts");
    const { folder, variables } = projectZones(invocation, readProject(invocation));
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

const { json: _, ...options } = projectOptions;

export const runClient: LeafCommand = {
  name: "run",
  summary: "Runs a client of the record API that insists on https and a fixed host",
  details:
    "The client trusts the authority of the state folder, and https to a host in https_names of [dns]\n" +
    "leads to the DNS of this project: by HTTPS_PROXY on every system, and on Linux by a hosts file\n" +
    "that only the client sees. Clients that ignore HTTPS_PROXY need the latter and port 443, which\n" +
    "root may open; remarks say what the system does not permit. The exit code is the client's.",
  arguments: [
    { name: "COMMAND", summary: "The client and its arguments, after --", repeated: true },
  ],
  options,
  examples: [
    "ledge dns run -- curl https://api.cloudflare.com/client/v4/zones",
    "ledge dns run -- acme.sh --issue --dns dns_cf -d example.com",
  ],

  async run(invocation) {
    const { runInReach } = await import("./client-process.ts");
    const project = readProject(invocation);
    const zones = projectZones(invocation, project);
    return runInReach(invocation.arguments, {
      folder: zones.folder,
      names: readDnsConfig(zones.variables).httpsNames,
      start: () => findListeners(zones, project),
    });
  },
};

interface TrustStep {
  readonly id: string;
  readonly title: string;
  /** Lines for a shell. */
  readonly commands: readonly string[];
  /** Lines that take the trust back; none where the trust ends with the shell. */
  readonly undo: readonly string[];
}

function step(
  id: string,
  title: string,
  commands: readonly string[],
  undo: readonly string[] = [],
): TrustStep {
  return { id, title, commands, undo };
}

/**
 * How systems and programs are told to trust a certificate authority.
 *
 * @param path the certificate as a file
 * @param name the name of the authority, which no other authority has
 */
export function trustSteps({ path, name }: { path: string; name: string }): TrustStep[] {
  const fileName = name.toLowerCase().replaceAll(" ", "-");
  const quoted = `'${path.replaceAll("'", String.raw`'\''`)}'`;
  /** A system with a folder of certificates, which a command reads. */
  const system = (id: string, title: string, file: string, update: string, undo = update) =>
    step(
      id,
      title,
      [`sudo install -m 644 ${quoted} ${file}`, `sudo ${update}`],
      [`sudo rm ${file}`, `sudo ${undo}`],
    );
  const program = (id: string, title: string, ...variables: string[]) =>
    step(
      id,
      title,
      variables.map((variable) => `export ${variable}=${quoted}`),
    );
  return [
    system(
      "debian",
      "Debian, Ubuntu, Alpine",
      `/usr/local/share/ca-certificates/${fileName}.crt`,
      "update-ca-certificates",
      "update-ca-certificates --fresh",
    ),
    system(
      "fedora",
      "Fedora, Red Hat",
      `/etc/pki/ca-trust/source/anchors/${fileName}.pem`,
      "update-ca-trust",
    ),
    system(
      "opensuse",
      "openSUSE",
      `/etc/pki/trust/anchors/${fileName}.pem`,
      "update-ca-certificates",
    ),
    step(
      "arch",
      "Arch Linux",
      [`sudo trust anchor --store ${quoted}`],
      [`sudo trust anchor --remove ${quoted}`],
    ),
    step(
      "macos",
      "macOS",
      [`security add-trusted-cert -r trustRoot -k ~/Library/Keychains/login.keychain-db ${quoted}`],
      [`security remove-trusted-cert ${quoted}`],
    ),
    step(
      "windows",
      "Windows",
      [`certutil -user -addstore Root "${path}"`],
      [`certutil -user -delstore Root "${name}"`],
    ),
    program("node", "Node", "NODE_EXTRA_CA_CERTS"),
    program(
      "python",
      "Python (the programs then trust this authority only)",
      "REQUESTS_CA_BUNDLE",
      "SSL_CERT_FILE",
    ),
    program("curl", "curl (then trusts this authority only)", "CURL_CA_BUNDLE"),
    step(
      "java",
      "Java",
      [
        `keytool -importcert -noprompt -cacerts -storepass changeit -alias ${fileName} -file ${quoted}`,
      ],
      [`keytool -delete -cacerts -storepass changeit -alias ${fileName}`],
    ),
  ];
}

export function describeSteps(steps: readonly TrustStep[]): string {
  return steps
    .map(({ title, commands, undo }) =>
      [
        `${title}:`,
        ...commands.map((line) => `  ${line}`),
        ...(undo.length === 0
          ? []
          : ["  # to take it back:", ...undo.map((line) => `  # ${line}`)]),
      ].join("\n"),
    )
    .join("\n\n");
}
