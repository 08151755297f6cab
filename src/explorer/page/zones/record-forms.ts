/**
 * The forms of all record types: which fields a type has, where a request has them, and what a person
 * has to know. The rules of the fields are the server's, which says what is wrong.
 */
export interface RecordField {
  /** As the record API names the field. */
  readonly name: string;
  /** Where a request has the value. */
  readonly place: "content" | "data" | "priority";
  readonly label: string;
  readonly hint?: string;
  readonly kind: "text" | "long" | "number" | "choice";
  /** The usual values of a number or a word. A record may have others. */
  readonly choices?: readonly FieldChoice[];
  /** A value that the server accepts: it is shown in an empty field. */
  readonly example: string;
  /** The value of a new form. */
  readonly initial?: string;
}

export interface FieldChoice {
  readonly value: string;
  readonly label: string;
}

export interface RecordForm {
  readonly type: string;
  /** What the type is for, in one line. */
  readonly summary: string;
  readonly isProxiable?: true;
  /** Where records of the type belong; the form's example of a name. */
  readonly nameExample?: string;
  readonly fields: readonly RecordField[];
}

function choices(labels: Readonly<Record<string, string>>): readonly FieldChoice[] {
  return Object.entries(labels).map(([value, label]) => ({ value, label: `${value} – ${label}` }));
}

type FieldOptions = Partial<Pick<RecordField, "hint" | "initial" | "choices">>;

function contentField(label: string, example: string, options: FieldOptions = {}): RecordField {
  return { name: "content", place: "content", kind: "text", label, example, ...options };
}

function dataField(
  name: string,
  label: string,
  example: string,
  options: FieldOptions & Partial<Pick<RecordField, "kind">> = {},
): RecordField {
  const kind = options.choices !== undefined ? "choice" : "text";
  return { name, place: "data", kind, label, example, ...options };
}

function numberField(
  name: string,
  label: string,
  example: string,
  options: FieldOptions = {},
): RecordField {
  return dataField(name, label, example, { kind: "number", ...options });
}

function chosenField(
  name: string,
  label: string,
  labels: Readonly<Record<string, string>>,
  initial: string,
): RecordField {
  return dataField(name, label, initial, { choices: choices(labels), initial });
}

const priority: RecordField = {
  name: "priority",
  place: "priority",
  kind: "number",
  label: "Priority",
  hint: "0 to 65535; the lowest number is used first",
  example: "10",
  initial: "10",
};

const keyAlgorithm = chosenField(
  "algorithm",
  "Algorithm",
  {
    "8": "RSASHA256",
    "10": "RSASHA512",
    "13": "ECDSAP256SHA256",
    "14": "ECDSAP384SHA384",
    "15": "ED25519",
    "16": "ED448",
  },
  "13",
);

const keyTag = numberField("key_tag", "Key tag", "12345", { hint: "0 to 65535" });

const certificateFields: readonly RecordField[] = [
  chosenField(
    "usage",
    "Usage",
    { "0": "PKIX-TA", "1": "PKIX-EE", "2": "DANE-TA", "3": "DANE-EE" },
    "3",
  ),
  chosenField("selector", "Selector", { "0": "whole certificate", "1": "public key" }, "1"),
  chosenField(
    "matching_type",
    "Matching type",
    { "0": "no hash", "1": "SHA-256", "2": "SHA-512" },
    "1",
  ),
  dataField("certificate", "Certificate data", "ab".repeat(32), {
    kind: "long",
    hint: "In hexadecimal",
  }),
];

const serviceFields: readonly RecordField[] = [
  numberField("priority", "Priority", "1", {
    hint: "0 makes an alias, which takes no parameters",
    initial: "1",
  }),
  dataField("target", "Target", ".", { hint: "A hostname; a dot is the name itself" }),
  dataField("value", "Parameters", 'alpn="h3,h2" port="443"', {
    hint: "Empty for an alias",
  }),
];

function angleFields(
  axis: "lat" | "long",
  label: string,
  degrees: string,
  directions: Readonly<Record<string, string>>,
): readonly RecordField[] {
  const [first = ""] = Object.keys(directions);
  return [
    numberField(`${axis}_degrees`, `${label}: degrees`, degrees),
    numberField(`${axis}_minutes`, `${label}: minutes`, "22", { initial: "0" }),
    numberField(`${axis}_seconds`, `${label}: seconds`, "23.5", { initial: "0" }),
    chosenField(`${axis}_direction`, `${label}: direction`, directions, first),
  ];
}

const metres = "In metres";

export const recordForms: readonly RecordForm[] = [
  {
    type: "A",
    summary: "An IPv4 address",
    isProxiable: true,
    fields: [contentField("IPv4 address", "192.0.2.1")],
  },
  {
    type: "AAAA",
    summary: "An IPv6 address",
    isProxiable: true,
    fields: [contentField("IPv6 address", "2001:db8::1")],
  },
  {
    type: "CAA",
    summary: "Which authorities may issue certificates",
    nameExample: "@",
    fields: [
      chosenField("flags", "Flags", { "0": "not critical", "128": "critical" }, "0"),
      chosenField(
        "tag",
        "Tag",
        {
          issue: "certificates for the name",
          issuewild: "wildcard certificates",
          issuemail: "certificates for mail",
          iodef: "where to report violations",
        },
        "issue",
      ),
      dataField("value", "Value", "letsencrypt.org", {
        hint: "The hostname of an authority; a URL for iodef",
      }),
    ],
  },
  {
    type: "CERT",
    summary: "A certificate",
    fields: [
      chosenField(
        "type",
        "Certificate type",
        { "1": "PKIX", "2": "SPKI", "3": "PGP", "253": "URI", "254": "OID" },
        "1",
      ),
      keyTag,
      keyAlgorithm,
      dataField("certificate", "Certificate", "AQIDBA==", { kind: "long", hint: "In base64" }),
    ],
  },
  {
    type: "CNAME",
    summary: "Another name of a host",
    isProxiable: true,
    fields: [contentField("Target", "www.example.com", { hint: "A hostname" })],
  },
  {
    type: "DNSKEY",
    summary: "A key of a signed zone",
    nameExample: "@",
    fields: [
      chosenField("flags", "Flags", { "256": "zone key", "257": "key-signing key" }, "256"),
      numberField("protocol", "Protocol", "3", { hint: "Always 3", initial: "3" }),
      keyAlgorithm,
      dataField("public_key", "Public key", "AQIDBA==", { kind: "long", hint: "In base64" }),
    ],
  },
  {
    type: "DS",
    summary: "The key of a signed zone below this zone",
    nameExample: "child",
    fields: [
      keyTag,
      keyAlgorithm,
      chosenField(
        "digest_type",
        "Digest type",
        { "1": "SHA-1", "2": "SHA-256", "4": "SHA-384" },
        "2",
      ),
      dataField("digest", "Digest", "ab".repeat(32), { kind: "long", hint: "In hexadecimal" }),
    ],
  },
  {
    type: "HTTPS",
    summary: "How browsers connect to a host",
    fields: serviceFields,
  },
  {
    type: "LOC",
    summary: "A place on the earth",
    fields: [
      ...angleFields("lat", "Latitude", "52", { N: "north", S: "south" }),
      ...angleFields("long", "Longitude", "4", { E: "east", W: "west" }),
      numberField("altitude", "Altitude", "10", { hint: metres, initial: "0" }),
      numberField("size", "Size", "1", { hint: metres, initial: "1" }),
      numberField("precision_horz", "Horizontal precision", "10000", {
        hint: metres,
        initial: "10000",
      }),
      numberField("precision_vert", "Vertical precision", "10", { hint: metres, initial: "10" }),
    ],
  },
  {
    type: "MX",
    summary: "A mail server",
    nameExample: "@",
    fields: [
      priority,
      contentField("Mail server", "mail.example.com", {
        hint: "A hostname; a dot refuses all mail",
      }),
    ],
  },
  {
    type: "NAPTR",
    summary: "Rules that rewrite a name",
    fields: [
      numberField("order", "Order", "100"),
      numberField("preference", "Preference", "10"),
      dataField("flags", "Flags", "U", { hint: "Letters and digits, such as U or S" }),
      dataField("service", "Service", "E2U+sip"),
      dataField("regex", "Regular expression", "!^.*$!sip:info@example.com!", {
        hint: "Empty when there is a replacement",
      }),
      dataField("replacement", "Replacement", ".", {
        hint: "A hostname; a dot when there is a regular expression",
        initial: ".",
      }),
    ],
  },
  {
    type: "NS",
    summary: "A name server of a part of the zone",
    nameExample: "child",
    fields: [contentField("Name server", "ns1.example.com", { hint: "A hostname" })],
  },
  {
    type: "OPENPGPKEY",
    summary: "An OpenPGP key",
    fields: [{ ...contentField("Key", "AQIDBA==", { hint: "In base64" }), kind: "long" }],
  },
  {
    type: "PTR",
    summary: "The name of an address",
    nameExample: "1",
    fields: [contentField("Hostname", "www.example.com")],
  },
  {
    type: "SMIMEA",
    summary: "A certificate for encrypted mail",
    fields: certificateFields,
  },
  {
    type: "SRV",
    summary: "Host and port of a service",
    nameExample: "_sip._tcp",
    fields: [
      { ...priority, place: "data" },
      numberField("weight", "Weight", "5", { hint: "Among servers of one priority", initial: "5" }),
      numberField("port", "Port", "5060"),
      dataField("target", "Target", "sip.example.com", {
        hint: "A hostname; a dot when there is no service",
      }),
    ],
  },
  {
    type: "SSHFP",
    summary: "The fingerprint of a host key",
    fields: [
      chosenField(
        "algorithm",
        "Algorithm",
        { "1": "RSA", "2": "DSA", "3": "ECDSA", "4": "Ed25519", "6": "Ed448" },
        "4",
      ),
      chosenField("type", "Fingerprint type", { "1": "SHA-1", "2": "SHA-256" }, "2"),
      dataField("fingerprint", "Fingerprint", "ab".repeat(32), {
        kind: "long",
        hint: "In hexadecimal",
      }),
    ],
  },
  {
    type: "SVCB",
    summary: "How clients connect to a service",
    nameExample: "_dns",
    fields: serviceFields,
  },
  {
    type: "TLSA",
    summary: "A certificate of a TLS server",
    nameExample: "_443._tcp.www",
    fields: certificateFields,
  },
  {
    type: "TXT",
    summary: "Text, such as SPF, DKIM and DMARC",
    fields: [
      {
        ...contentField("Text", "v=spf1 include:example.com -all", {
          hint: "In quotation marks, or without",
        }),
        kind: "long",
      },
    ],
  },
  {
    type: "URI",
    summary: "The address of a service",
    nameExample: "_http._tcp",
    fields: [
      priority,
      numberField("weight", "Weight", "1", { initial: "1" }),
      dataField("target", "Target", "https://www.example.com/", { hint: "A URI with its scheme" }),
    ],
  },
];

export function recordForm(type: string): RecordForm | undefined {
  return recordForms.find((form) => form.type === type);
}
