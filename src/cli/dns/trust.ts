/** `ledge dns trust`: clients that insist on https. */
import { readDnsConfig } from "../../dns/config/dns-config.ts";
import { projectOptions, type LeafCommand } from "../command.ts";
import { print } from "../output.ts";
import { readProject } from "./session.ts";

export const trust: LeafCommand = {
  name: "trust",
  summary: "Says how systems and programs trust the certificate of https",
  details:
    "Each state folder has an authority of its own, which certifies loopback and the https_names of\n" +
    "[dns] and nothing else. This command changes no system. ledge run needs no trust.",
  options: projectOptions,
  examples: ["ledge dns trust", "ledge dns trust --json"],

  async run(invocation) {
    const { openAuthority } = await import("../../dns/server/server-certificate.ts");
    const { folder, variables } = readProject(invocation).zones;
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

interface TrustStep {
  readonly id: string;
  readonly title: string;
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
  type Lines = readonly [commands: readonly string[], undo: readonly string[]];
  /** A system with a folder of certificates, which a command reads. */
  const system = (file: string, update: string, undo = update): Lines => [
    [`sudo install -m 644 ${quoted} ${file}`, `sudo ${update}`],
    [`sudo rm ${file}`, `sudo ${undo}`],
  ];
  const program = (...names: string[]): Lines => [
    names.map((each) => `export ${each}=${quoted}`),
    [],
  ];
  const debianFile = `/usr/local/share/ca-certificates/${fileName}.crt`;
  const fedoraFile = `/etc/pki/ca-trust/source/anchors/${fileName}.pem`;
  const macos = "-r trustRoot -k ~/Library/Keychains/login.keychain-db";
  const java = `-cacerts -storepass changeit -alias ${fileName}`;
  const only = "this authority only)";
  const steps: [id: string, title: string, lines: Lines][] = [
    [
      "debian",
      "Debian, Ubuntu, Alpine",
      system(debianFile, "update-ca-certificates", "update-ca-certificates --fresh"),
    ],
    ["fedora", "Fedora, Red Hat", system(fedoraFile, "update-ca-trust")],
    [
      "opensuse",
      "openSUSE",
      system(`/etc/pki/trust/anchors/${fileName}.pem`, "update-ca-certificates"),
    ],
    [
      "arch",
      "Arch Linux",
      [[`sudo trust anchor --store ${quoted}`], [`sudo trust anchor --remove ${quoted}`]],
    ],
    [
      "macos",
      "macOS",
      [
        [`security add-trusted-cert ${macos} ${quoted}`],
        [`security remove-trusted-cert ${quoted}`],
      ],
    ],
    [
      "windows",
      "Windows",
      [[`certutil -user -addstore Root "${path}"`], [`certutil -user -delstore Root "${name}"`]],
    ],
    ["node", "Node", program("NODE_EXTRA_CA_CERTS")],
    [
      "python",
      `Python (the programs then trust ${only}`,
      program("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"),
    ],
    ["curl", `curl (then trusts ${only}`, program("CURL_CA_BUNDLE")],
    [
      "java",
      "Java",
      [[`keytool -importcert -noprompt ${java} -file ${quoted}`], [`keytool -delete ${java}`]],
    ],
  ];
  return steps.map(([id, title, [commands, undo]]) => ({ id, title, commands, undo }));
}

export function describeSteps(steps: readonly TrustStep[]): string {
  return steps
    .map(({ title, commands, undo }) =>
      [
        `${title}:`,
        ...commands.map((line) => `  ${line}`),
        ...(undo.length === 0 ? [] : ["  # to take it back:"]),
        ...undo.map((line) => `  # ${line}`),
      ].join("\n"),
    )
    .join("\n\n");
}
