/** `ledge dns`: the zones of a project, from the command line. */
import type { Argument, CommandGroup, LeafCommand, Option } from "./command.ts";

/** Which server, and how to say what it said. */
const place: Record<string, Option> = {
  config: { summary: "The configuration file", value: "FILE", short: "c" },
  env: { summary: "The environment of the configuration", value: "NAME", short: "e" },
  "persist-to": {
    summary: "The folder that holds the state",
    value: "DIR",
    otherwise: ".wrangler/state",
  },
  url: {
    summary: "The API of another server",
    value: "URL",
    otherwise: "the one that is running on the state, or one for the command alone",
  },
  email: { summary: "The e-mail address that belongs to --key", value: "EMAIL" },
  key: { summary: "The owner's key", value: "KEY", otherwise: "the server's own" },
  token: { summary: "A token, instead of --email and --key", value: "TOKEN" },
  json: { summary: "Prints JSON" },
};

const work = () => import("./dns/dns-commands.ts");

const zone: Argument = { name: "ZONE", summary: "A zone's name, or its id" };
const owner: Argument = {
  name: "NAME",
  summary: 'A name in the zone, short or whole; "@" is the zone itself',
};
const type: Argument = { name: "TYPE", summary: "The type of the record, such as A or TXT" };
const content: Argument = {
  name: "CONTENT",
  summary: "What it says, in the words of a zone file",
  repeated: true,
};

const recordOptions: Record<string, Option> = {
  ttl: { summary: "Seconds, 60 to 86400; 1 is Auto", value: "SECONDS" },
  proxied: { summary: "The platform's addresses stand for its own" },
  "dns-only": { summary: "Not proxied" },
  priority: { summary: "Of MX, SRV and URI, if CONTENT does not begin with it", value: "NUMBER" },
  comment: { summary: "A remark; with an empty one there is none", value: "TEXT" },
  tag: { summary: "A tag of its own", value: "NAME:VALUE", repeated: true },
};

const zones: LeafCommand = {
  name: "zones",
  summary: "Lists the zones, makes one, or deletes one",
  options: {
    create: { summary: "Makes a zone", value: "NAME" },
    delete: { summary: "Deletes a zone with its records; needs --yes", value: "NAME" },
    yes: { summary: "Does delete", short: "y" },
    ...place,
  },
  examples: ["ledge dns zones", "ledge dns zones --create example.com"],
  async run(invocation) {
    await (await work()).manageZones(invocation);
  },
};

const list: LeafCommand = {
  name: "list",
  summary: "Lists the records of a zone",
  details: "With --json, each record is a line.",
  arguments: [zone],
  options: {
    type: { summary: "Only records of this type", value: "TYPE" },
    name: { summary: "Only records of this name", value: "NAME" },
    ...place,
  },
  examples: ["ledge dns list example.com --type MX"],
  async run(invocation) {
    await (await work()).listRecords(invocation);
  },
};

const add: LeafCommand = {
  name: "add",
  summary: "Adds a record",
  details:
    "Host names in CONTENT are whole names; one without a dot is a name of the zone.\n" +
    'CONTENT that begins with a hyphen comes after "--", which ends the options.',
  arguments: [zone, owner, type, content],
  options: { ...recordOptions, ...place },
  examples: [
    "ledge dns add example.com www A 192.0.2.1 --proxied",
    "ledge dns add example.com @ MX 10 mail.example.com --ttl 3600",
    'ledge dns add example.com @ TXT "v=spf1 -all"',
    "ledge dns add example.com _sip._tcp SRV 10 5 5060 sip.example.com",
  ],
  async run(invocation) {
    await (await work()).addRecord(invocation);
  },
};

const set: LeafCommand = {
  name: "set",
  summary: "Makes a record what it should be, whatever was there",
  details:
    "It is added if the name has none of this type. Otherwise it replaces all that there are;\n" +
    "options that are not given stay as they were.",
  arguments: [zone, owner, type, content],
  options: { ...recordOptions, ...place },
  examples: ["ledge dns set example.com home A 192.0.2.7 --ttl 60"],
  async run(invocation) {
    await (await work()).setRecord(invocation);
  },
};

const remove: LeafCommand = {
  name: "delete",
  summary: "Deletes records",
  details: "Where several fit, nothing is deleted without --all.",
  arguments: [
    zone,
    owner,
    { ...type, summary: "Only records of this type", optional: true },
    { ...content, summary: "Only the one that says this", optional: true },
  ],
  options: { all: { summary: "Deletes all that fit" }, ...place },
  examples: ["ledge dns delete example.com www A", "ledge dns delete example.com old --all"],
  async run(invocation) {
    await (await work()).deleteRecords(invocation);
  },
};

const importCommand: LeafCommand = {
  name: "import",
  summary: "Adds the records of a zone file, or of another name server",
  details:
    "Records that are there already are left as they are, so it can be run again. A file of at most\n" +
    "256 KiB is added whole or not at all; a larger one, or a transfer, goes in parts.\n" +
    "From another server, SOA and NS of the zone itself are left out: every zone here has its own.",
  arguments: [
    zone,
    {
      name: "FILE",
      summary: 'The zone file; "-" is standard input; not with --from',
      optional: true,
    },
  ],
  options: {
    from: { summary: "The name server to transfer the zone from (AXFR)", value: "HOST[:PORT]" },
    tsig: {
      summary: "Signs the request: a key of [[dns.keys]], or one in full",
      value: "NAME[:ALGORITHM]:SECRET",
    },
    create: { summary: "Makes the zone if it is not there" },
    proxied: { summary: "Of records in a file that do not say" },
    ...place,
  },
  examples: [
    "ledge dns import example.com example.com.zone --create",
    "ledge dns import example.com --from 192.0.2.53 --tsig to-ledge:hmac-sha256:c2VjcmV0",
  ],
  async run(invocation) {
    await (await work()).importRecords(invocation);
  },
};

const exportCommand: LeafCommand = {
  name: "export",
  summary: "Writes a zone as a zone file",
  arguments: [
    zone,
    { name: "FILE", summary: "Where to; standard output without it", optional: true },
  ],
  options: place,
  examples: ["ledge dns export example.com example.com.zone"],
  async run(invocation) {
    await (await work()).exportRecords(invocation);
  },
};

const dig: LeafCommand = {
  name: "dig",
  summary: "Asks a name server, and says which rules made the answer",
  details:
    "Over UDP, and again over TCP if the answer is too long. The rules are those of our own server.\n" +
    "Any answer is a success, also that the name does not exist.",
  arguments: [
    { name: "NAME", summary: "A whole name, or an address for the name that it has" },
    { name: "TYPE", summary: "A type, or TYPE and its number; A without it", optional: true },
  ],
  options: {
    server: { summary: "Another name server", value: "HOST[:PORT]" },
    tcp: { summary: "Over TCP at once" },
    ...place,
  },
  examples: ["ledge dns dig www.example.com", "ledge dns dig example.com MX --server 192.0.2.53"],
  async run(invocation) {
    await (await work()).dig(invocation);
  },
};

export const dns: CommandGroup = {
  name: "dns",
  summary: "The zones of a project: list, add, set, import, export, dig",
  commands: [zones, list, add, set, remove, importCommand, exportCommand, dig],
};
