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

export interface TrustStep {
  readonly id: string;
  readonly title: string;
  /** Lines for a shell. */
  readonly commands: readonly string[];
  /** Lines that take the trust back; none where the trust ends with the shell. */
  readonly undo: readonly string[];
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
  const exportLines = (...variables: string[]): string[] =>
    variables.map((variable) => `export ${variable}=${quoted}`);
  return [
    {
      id: "debian",
      title: "Debian, Ubuntu, Alpine",
      commands: [
        `sudo install -m 644 ${quoted} /usr/local/share/ca-certificates/${fileName}.crt`,
        "sudo update-ca-certificates",
      ],
      undo: [
        `sudo rm /usr/local/share/ca-certificates/${fileName}.crt`,
        "sudo update-ca-certificates --fresh",
      ],
    },
    {
      id: "fedora",
      title: "Fedora, Red Hat",
      commands: [
        `sudo install -m 644 ${quoted} /etc/pki/ca-trust/source/anchors/${fileName}.pem`,
        "sudo update-ca-trust",
      ],
      undo: [`sudo rm /etc/pki/ca-trust/source/anchors/${fileName}.pem`, "sudo update-ca-trust"],
    },
    {
      id: "opensuse",
      title: "openSUSE",
      commands: [
        `sudo install -m 644 ${quoted} /etc/pki/trust/anchors/${fileName}.pem`,
        "sudo update-ca-certificates",
      ],
      undo: [`sudo rm /etc/pki/trust/anchors/${fileName}.pem`, "sudo update-ca-certificates"],
    },
    {
      id: "arch",
      title: "Arch Linux",
      commands: [`sudo trust anchor --store ${quoted}`],
      undo: [`sudo trust anchor --remove ${quoted}`],
    },
    {
      id: "macos",
      title: "macOS",
      commands: [
        `security add-trusted-cert -r trustRoot -k ~/Library/Keychains/login.keychain-db ${quoted}`,
      ],
      undo: [`security remove-trusted-cert ${quoted}`],
    },
    {
      id: "windows",
      title: "Windows",
      commands: [`certutil -user -addstore Root "${path}"`],
      undo: [`certutil -user -delstore Root "${name}"`],
    },
    {
      id: "node",
      title: "Node",
      commands: exportLines("NODE_EXTRA_CA_CERTS"),
      undo: [],
    },
    {
      id: "python",
      title: "Python (the programs then trust this authority only)",
      commands: exportLines("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"),
      undo: [],
    },
    {
      id: "curl",
      title: "curl (then trusts this authority only)",
      commands: exportLines("CURL_CA_BUNDLE"),
      undo: [],
    },
    {
      id: "java",
      title: "Java",
      commands: [
        `keytool -importcert -noprompt -cacerts -storepass changeit -alias ${fileName} -file ${quoted}`,
      ],
      undo: [`keytool -delete -cacerts -storepass changeit -alias ${fileName}`],
    },
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
