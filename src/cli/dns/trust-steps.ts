/** How systems and programs are told to trust a certificate authority. */

export interface TrustStep {
  readonly id: string;
  readonly title: string;
  /** Lines for a shell. */
  readonly commands: readonly string[];
  /** Lines that take the trust back; none where the trust ends with the shell. */
  readonly undo: readonly string[];
}

/**
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
