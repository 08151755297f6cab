/**
 * `ledge dns list`, `add`, `set` and `delete`: the records of a zone.
 *
 * CONTENT is written as in a zone file, but the shell has removed the quotation marks: each word of
 * the command line is one token, and a single word may hold all tokens. Host names are full names,
 * as in the API; only a host name without a dot is relative to the zone.
 */
import { counted, formatTable } from "../../base/format.ts";
import { nearest } from "../../base/nearest.ts";
import { NotFoundError, UserError } from "../../base/user-error.ts";
import type { ApiClient, ApiRecord, ApiZone } from "../../dns/client/api-client.ts";
import { expandName } from "../../dns/record/record-name.ts";
import type { RdataRequest, RecordType } from "../../dns/record/record-type.ts";
import { recordType, recordTypes } from "../../dns/record/types.ts";
import { ScanError, splitTokens, type Token } from "../../dns/record/tokens.ts";
import { isTextKind, textKinds } from "../../dns/record/mail-policy.ts";
import { UsageError, type Invocation, type LeafCommand } from "../command.ts";
import { print } from "../output.ts";
import { findZone, serverOptions, withDns, zoneArgument } from "./session.ts";

const nameArgument = [
  "NAME",
  'A name in the zone, relative or full; "@" is the zone itself',
] as const;

/** What `add` and `set` take. */
const recordUsage = {
  arguments: [
    zoneArgument,
    nameArgument,
    ["TYPE", "The type of the record, such as A or TXT"],
    ["CONTENT...", "The data of the record, as in a zone file"],
  ],
  options: {
    "--ttl SECONDS": "Seconds, 60 to 86400; 1 stands for automatic",
    "--proxied": "Answers with the addresses of the platform",
    "--dns-only": "Answers with the record itself",
    "--priority NUMBER": "The priority of MX, SRV or URI, if CONTENT has none",
    "--comment TEXT": "A comment; empty text removes it",
    "--tag NAME:VALUE...": "A tag of the record",
    ...serverOptions,
  },
} satisfies Partial<LeafCommand>;

export const listRecords: LeafCommand = {
  name: "list",
  aliases: ["ls"],
  summary: "Lists the records of a zone",
  details: "With --json, each record is one line.",
  arguments: [zoneArgument],
  options: {
    "--type TYPE": "Lists only records of this type",
    "--name NAME": "Lists only records with this name",
    ...serverOptions,
  },
  examples: ["ledge dns list example.com --type MX"],

  async run(invocation, word) {
    const typeWord = invocation.text("type");
    const type = typeWord === undefined ? undefined : storedType(parseType(typeWord));
    const name = invocation.text("name");
    await withDns(invocation, async ({ api }) => {
      const zone = await findZone(api, word);
      const records = await api.records(zone.id, {
        ...(type !== undefined && { type }),
        ...(name !== undefined && { name: expandName(name, zone.name) }),
      });
      if (invocation.flag("json")) {
        for (const record of records) print(invocation, record, "");
      } else {
        print(invocation, null, recordsText(records));
      }
    });
  },
};

export const add: LeafCommand = {
  name: "add",
  summary: "Adds a record",
  details:
    "Host names in CONTENT are full names; a host name without a dot is a name in the zone.\n" +
    'CONTENT that starts with a hyphen must follow "--", which ends the options.',
  ...recordUsage,
  examples: [
    "ledge dns add example.com www A 192.0.2.1 --proxied",
    "ledge dns add example.com @ MX 10 mail.example.com --ttl 3600",
    'ledge dns add example.com @ TXT "v=spf1 -all"',
    "ledge dns add example.com _sip._tcp SRV 10 5 5060 sip.example.com",
  ],

  async run(invocation) {
    const { zone: word, name, type, fieldsIn } = readRecord(invocation);
    await withDns(invocation, async ({ api }) => {
      const zone = await findZone(api, word);
      const record = await api.createRecord(zone.id, { name, type, ...fieldsIn(zone.name) });
      print(invocation, record, `Added ${recordText(record)}`);
    });
  },
};

const verbs = { created: "Added", replaced: "Replaced", unchanged: "Unchanged:" };

export const set: LeafCommand = {
  name: "set",
  summary: "Adds a record, or replaces the records of its name and type",
  details: "A replaced record keeps its TTL, proxied, comment and tags where no option is given.",
  ...recordUsage,
  examples: ["ledge dns set example.com home A 192.0.2.7 --ttl 60"],

  async run(invocation) {
    const words = readRecord(invocation);
    await withDns(invocation, async ({ api }) => {
      const change = await setRecord(api, await findZone(api, words.zone), words);
      const { action, record, replaced } = change;
      const lines = replaced.map((old) => `  was ${recordText(old)}`);
      print(invocation, change, [`${verbs[action]} ${recordText(record)}`, ...lines].join("\n"));
    });
  },
};

/** `replaced` has the records before a change, including the earlier state of `record`. */
async function setRecord(
  api: ApiClient,
  zone: ApiZone,
  { name, type, fieldsIn }: ReturnType<typeof readRecord>,
): Promise<{ action: keyof typeof verbs; record: ApiRecord; replaced: readonly ApiRecord[] }> {
  const fields = fieldsIn(zone.name);
  const existing = await api.records(zone.id, {
    name: expandName(name, zone.name),
    type: storedType(type),
  });
  const [first, ...others] = existing;
  if (first === undefined) {
    const record = await api.createRecord(zone.id, { name, type, ...fields });
    return { action: "created", record, replaced: [] };
  }
  // One batch: a query sees the old records or the new record, never none or both.
  const { patches } = await api.batch(zone.id, {
    deletes: others.map(({ id }) => ({ id })),
    patches: [{ id: first.id, ...fields }],
  });
  const record = patches[0] as ApiRecord;
  if (others.length === 0 && record.modified_on === first.modified_on) {
    return { action: "unchanged", record, replaced: [] };
  }
  return { action: "replaced", record, replaced: existing };
}

/** The API allows far larger batches. */
const deletesPerBatch = 1000;

export const deleteRecords: LeafCommand = {
  name: "delete",
  aliases: ["rm"],
  summary: "Deletes records",
  details: "If several records match, the command deletes nothing without --all.",
  arguments: [
    zoneArgument,
    nameArgument,
    ["[TYPE]", "Deletes only records of this type"],
    ["[CONTENT...]", "Deletes only the record with this data"],
  ],
  options: { "--all": "Deletes all records that match", ...serverOptions },
  examples: ["ledge dns delete example.com www A", "ledge dns delete example.com old --all"],

  async run(invocation, zoneWord, nameWord, typeWord?: string, ...words) {
    const type = typeWord === undefined ? undefined : storedType(parseType(typeWord));
    await withDns(invocation, async ({ api }) => {
      const zone = await findZone(api, zoneWord);
      const name = expandName(nameWord, zone.name);
      const named = await api.records(zone.id, { name });
      const ofType = named.filter((record) => type === undefined || record.type === type);
      const matching =
        type === undefined || words.length === 0
          ? ofType
          : ofType.filter(contentMatcher({ type, words, zoneName: zone.name }));
      if (matching.length === 0) throw await recordNotFound(api, zone, { name, named });
      if (matching.length > 1 && !invocation.flag("all")) {
        throw new UserError(
          `${counted(matching.length, "record")} match: choose one by TYPE and CONTENT, or use --all.\n` +
            recordsText(matching),
        );
      }
      for (let start = 0; start < matching.length; start += deletesPerBatch) {
        const part = matching.slice(start, start + deletesPerBatch);
        await api.batch(zone.id, { deletes: part.map(({ id }) => ({ id })) });
      }
      print(invocation, { deleted: matching }, `Deleted\n${recordsText(matching)}`);
    });
  },
};

async function recordNotFound(
  api: ApiClient,
  zone: ApiZone,
  { name, named }: { name: string; named: readonly ApiRecord[] },
): Promise<NotFoundError> {
  if (named.length > 0) {
    return new NotFoundError(`No record matches. ${name} has\n${recordsText(named)}`);
  }
  const others = new Set((await api.records(zone.id, {})).map((record) => record.name));
  const guess = nearest(name, others);
  return new NotFoundError(
    `${zone.name} has no record named ${name}.` + (guess === null ? "" : ` Did you mean ${guess}?`),
  );
}

/** The API's value for an automatic TTL. */
const ttlAuto = 1;

/** Name, TTL, type and content; after a semicolon, what DNS does not carry. */
function cells(record: ApiRecord): readonly string[] {
  const { name, ttl, type, proxied, comment, tags } = record;
  const remarks = [
    ...(proxied ? ["proxied"] : []),
    ...(comment === null || comment === "" ? [] : [comment]),
    ...tags,
  ];
  const shown = [name, ttl === ttlAuto ? "auto" : String(ttl), type, contentText(record)];
  return remarks.length === 0 ? shown : [...shown, `; ${remarks.join(", ")}`];
}

function recordsText(records: readonly ApiRecord[]): string {
  return formatTable(records.map(cells));
}

function recordText(record: ApiRecord): string {
  return cells(record).join(" ");
}

/** The content after its priority, which the API keeps in a field beside the content. */
function contentText({ content, priority }: ApiRecord): string {
  return priority === undefined ? content : `${priority} ${content}`;
}

export interface ContentWords {
  readonly type: string;
  readonly words: readonly string[];
  readonly zoneName: string;
  readonly priority?: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns the type in upper case. SPF, DKIM and DMARC count as types. */
export function parseType(word: string): string {
  const type = word.toUpperCase();
  if (recordTypes.has(type) || isTextKind(type)) return type;
  const known = [...recordTypes.keys(), ...Object.keys(textKinds)];
  const guess = nearest(type, known);
  const hint = guess === null ? "" : `Did you mean ${guess}? `;
  throw new UsageError(
    `There is no record type "${word}". ${hint}The types are ${known.join(", ")}.`,
  );
}

/** The type of the stored record: TXT for SPF, DKIM and DMARC. */
function storedType(type: string): string {
  return isTextKind(type) ? "TXT" : type;
}

/** Returns the fields of a request that depend on the type: `content` or `data`, and `priority`. */
export function parseContent({ type, words, zoneName, priority }: ContentWords): RdataRequest {
  const known = recordTypes.get(storedType(type)) as RecordType;
  if (priority !== undefined && !known.topLevelPriority) {
    throw new UsageError(`--priority is for MX, SRV and URI, not for ${type}.`);
  }
  if (known.type === "TXT") return { content: textContent(words) };
  const tokens = tokensOf(words, known);
  const allTokens = priority === undefined ? tokens : [tokenOf(String(priority)), ...tokens];
  const request = expandHosts(known.parse(allTokens, ""), known.parse(allTokens, zoneName));
  if (request !== null) return request;
  throw new UsageError(
    `CONTENT of ${type} is ${known.fieldNames.map((name) => name.toUpperCase()).join(" ")}, ` +
      `not "${words.join(" ")}".`,
  );
}

/** The API quotes and splits a single word. Of several words, each is one string of the record. */
function textContent(words: readonly string[]): string {
  const [only = "", ...more] = words;
  if (more.length === 0) return only;
  return words
    .map((text) => (isQuoted(text) ? text : `"${text.replaceAll(/["\\]/g, "\\$&")}"`))
    .join(" ");
}

function tokensOf(words: readonly string[], { fieldNames }: RecordType): readonly Token[] {
  const [only = "", ...more] = words;
  if (more.length > 0 || fieldNames.length === 1) return words.map(tokenOf);
  try {
    return splitTokens(only);
  } catch (error) {
    if (!(error instanceof ScanError)) throw error;
    throw new UsageError(`Cannot read CONTENT: ${error.message}.`);
  }
}

function tokenOf(text: string): Token {
  return isQuoted(text)
    ? { text: text.slice(1, -1), quoted: true }
    : { text, quoted: /\s/.test(text.replaceAll(quotedPart, "")) };
}

/** The quoted part of a word such as `alpn="h2, h3"`, which is not quoted as a whole. */
const quotedPart = /"(?:[^"\\]|\\.)*"/g;

function isQuoted(text: string): boolean {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"');
}

/**
 * Chooses between two readings of the same tokens, one with host names as they are and one with host
 * names relative to the zone: the second holds for host names without a dot.
 */
function expandHosts(
  plain: RdataRequest | null,
  relative: RdataRequest | null,
): RdataRequest | null {
  if (plain === null || relative === null) return null;
  const choose = (fields: Fields, others: Fields): Fields =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => {
        const isRelative = value !== others[name] && !String(value).includes(".");
        return [name, isRelative ? others[name] : value];
      }),
    );
  const { data } = plain;
  if (data === undefined) return choose(plain as Fields, relative as Fields);
  return { ...plain, data: choose(data as Fields, relative.data as Fields) };
}

/** Matches records whose content means the same as the words, or is listed in the same words. */
function contentMatcher(content: ContentWords): (record: ApiRecord) => boolean {
  const listed = content.words.join(" ");
  const wanted = normalisedContent(content) ?? listed;
  return (record) => {
    const text = contentText(record);
    return text === wanted || text === listed || record.content === listed.toLowerCase();
  };
}

/** The content as `contentText()` shows it; `null` for incomplete content, as MX without priority. */
function normalisedContent(content: ContentWords): string | null {
  const definition = recordType(content.type);
  try {
    const rdata = definition.accept(parseContent(content), "", () => {});
    if (rdata === undefined) return null;
    const priority = definition.topLevelPriority ? `${String(rdata["priority"])} ` : "";
    return priority + definition.content(rdata);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return null;
  }
}

/** @throws UsageError for a mistake in the words, before the command looks for a server */
function readRecord(invocation: Invocation) {
  const [zone, name, typeWord, ...words] = invocation.arguments as [
    string,
    string,
    string,
    ...string[],
  ];
  const type = parseType(typeWord);
  const priority = invocation.integer("priority");
  const options = {
    ttl: invocation.integer("ttl"),
    proxied: proxiedOption(invocation),
    comment: invocation.text("comment"),
    tags: invocation.list("tag"),
  };
  /** The fields for a zone of this name: content, and the options that the user gives. */
  const fieldsIn = (zoneName: string) => ({
    ...parseContent({ type, words, zoneName, priority }),
    ...options,
  });
  fieldsIn("");
  return { zone, name, type, fieldsIn };
}

function proxiedOption({ options }: Invocation): boolean | undefined {
  if (options["proxied"] !== true) return options["dns-only"] === true ? false : undefined;
  if (options["dns-only"] !== true) return true;
  throw new UsageError("--proxied and --dns-only exclude each other: use one of them.");
}
