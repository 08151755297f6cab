/**
 * `ledge dns import`.
 *
 * A file of at most 256 KiB goes to the API as it is. A larger file or a transfer has a plan, made
 * before the first record is added: records in the form of the API, the records that are left out
 * with the reason, and the parts that the command sends. A part is a zone file with one record on
 * each line, so a line number in an error of the API identifies a record.
 */
import { readFileSync } from "node:fs";
import { counted, formatTable, linesIf } from "../../base/format.ts";
import { Progress } from "../../base/progress.ts";
import { NotFoundError, UserError } from "../../base/user-error.ts";
import type { ProjectConfig } from "../../config/read-config.ts";
import { ApiError, type ApiClient, type ApiProblem } from "../../dns/client/api-client.ts";
import { nameOfType } from "../../dns/client/ask-server.ts";
import { fetchZone } from "../../dns/client/fetch-zone.ts";
import { parseSecret } from "../../dns/config/dns-table.ts";
import { normaliseHostname } from "../../dns/record/fields.ts";
import { formatData } from "../../dns/record/presentation.ts";
import { ZoneError } from "../../dns/record/problem.ts";
import { nearestTtl, type RecordDraft } from "../../dns/record/zone-record.ts";
import { acceptRecord, type RecordRequest } from "../../dns/rules/accept-record.ts";
import { acceptZoneName } from "../../dns/rules/zone.ts";
import { toRecordRequest } from "../../dns/transfer/incoming.ts";
import { WireError } from "../../dns/wire/bytes.ts";
import { classCodes, typeCodes } from "../../dns/wire/numbers.ts";
import type { ResourceRecord } from "../../dns/wire/resource-record.ts";
import { isTsigAlgorithm, type TsigKey } from "../../dns/wire/tsig.ts";
import { composeLine } from "../../dns/zone-file/compose.ts";
import { parseZoneFile, zoneFileText } from "../../dns/zone-file/parse.ts";
import { UsageError, type Invocation, type LeafCommand } from "../command.ts";
import { print, printRemark } from "../output.ts";
import {
  findZone,
  findZoneNamed,
  resolveServer,
  serverOptions,
  withDns,
  zoneArgument,
} from "./session.ts";

const leftOutShownMax = 20;
const keyForm = "NAME[:ALGORITHM]:SECRET";
const algorithmDefault = "hmac-sha256";

export const importRecords: LeafCommand = {
  name: "import",
  summary: "Adds the records of a zone file or of another name server",
  details:
    "Records that exist already are skipped, so an import can be run again. A file of at most\n" +
    "256 KiB is added completely or not at all; a larger file or a transfer is sent in parts.\n" +
    "A transfer leaves out SOA and NS of the zone itself: every zone here has its own.",
  arguments: [zoneArgument, ["[FILE]", 'The zone file; "-" is standard input; not with --from']],
  options: {
    "--from HOST[:PORT]": "The name server to transfer the zone from (AXFR)",
    [`--tsig ${keyForm}`]: "Signs the transfer with a key of [[dns.keys]] or with this key",
    "--create": "Makes the zone if it does not exist",
    "--proxied": "Makes records proxied where the file does not say",
    ...serverOptions,
  },
  examples: [
    "ledge dns import example.com example.com.zone --create",
    "ledge dns import example.com --from 192.0.2.53 --tsig to-ledge:hmac-sha256:c2VjcmV0",
  ],

  async run(invocation, word, file?: string) {
    checkSource(invocation, file);
    const text = file === undefined ? null : readZoneFile(file);
    const proxied = invocation.flag("proxied");
    await withDns(invocation, async ({ api, project }) => {
      const zone = await (invocation.flag("create") ? findZoneNamed : findZone)(api, word);
      const zoneName = zone?.name ?? acceptZoneName(word, () => {});
      if (zoneName === undefined) throw new UsageError(`"${word}" is not a valid zone name.`);
      let plan: ImportPlan | null = null;
      if (text === null) {
        plan = planTransfer(await transferZone(invocation, project, zoneName), zoneName);
      } else if (Buffer.byteLength(text) > fileBytesMax) {
        plan = planFile(text, { zoneName, proxied });
      }
      const { id } = zone ?? (await api.createZone(zoneName));
      const parts =
        plan === null
          ? [{ text: text as string, places: [] }]
          : partsOf(plan.records, fileBytesMax);
      const { added, parsed, remarks } = await upload(api, id, parts, {
        // The records of a plan say themselves whether they are proxied.
        proxied: plan === null && proxied,
        recordCount: plan?.records.length,
      }).catch(async (error: unknown) => {
        if (zone === null && (await api.recordCount(id)) === 0) await api.deleteZone(id);
        throw error;
      });
      const { leftOut = [], movedTtls = [] } = plan ?? {};
      for (const remark of remarks) printRemark(remark);
      for (const line of describeLeftOut(leftOut, zoneName)) printRemark(line);
      if (movedTtls.length > 0) {
        printRemark(`${counted(movedTtls.length, "TTL")} changed to the nearest of 60 to 86400.`);
      }
      const skipped = parsed - added;
      print(
        invocation,
        { zone: zoneName, created: zone === null, parsed, added, leftOut, movedTtls },
        `Added ${counted(added, "record")} to ${zoneName}` +
          (skipped === 0
            ? "."
            : `; ${skipped} of ${parsed} exist already or belong to the zone itself.`),
      );
    });
  },
};

function checkSource({ options }: Invocation, file: string | undefined): void {
  const isTransfer = options["from"] !== undefined;
  if (isTransfer && file !== undefined) {
    throw new UsageError("FILE and --from exclude each other: use one of them.");
  }
  if (!isTransfer && file === undefined) {
    throw new UsageError('FILE is missing: a zone file, "-" for standard input, or --from HOST.');
  }
  if (!isTransfer && options["tsig"] !== undefined) throw new UsageError("--tsig needs --from.");
  if (isTransfer && options["proxied"] !== undefined) {
    throw new UsageError("--proxied applies to files only: leave it out with --from.");
  }
}

function readZoneFile(path: string): string {
  try {
    return zoneFileText(readFileSync(path === "-" ? 0 : path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new NotFoundError(`There is no file ${path}.`);
    throw new UserError(`Cannot read ${path}: ${message}.`, { cause: error });
  }
}

async function transferZone(
  invocation: Invocation,
  project: ProjectConfig,
  zoneName: string,
): Promise<readonly ResourceRecord[]> {
  const from = invocation.text("from") as string;
  const keyText = invocation.text("tsig");
  const key = keyText === undefined ? undefined : parseKey(keyText, project.dns.transfers.keys);
  const server = await resolveServer("from", from);
  const progress = new Progress();
  progress.show(`Transferring ${zoneName} from ${from}`);
  return fetchZone({ zoneName, ...server, key }).finally(() => progress.end());
}

/** `NAME` of a configured key, `NAME:SECRET` or `NAME:ALGORITHM:SECRET`; the secret is base64. */
function parseKey(text: string, configured: readonly TsigKey[]): TsigKey {
  const [nameWord = "", ...rest] = text.split(":");
  const name = normaliseHostname(nameWord);
  if (rest.length === 0) {
    const key = configured.find((candidate) => candidate.name === name);
    if (key !== undefined) return key;
    throw new UsageError(`There is no key "${text}" in [[dns.keys]]: add it, or use ${keyForm}.`);
  }
  const [algorithmWord = "", secretWord] = rest.length === 1 ? [algorithmDefault, ...rest] : rest;
  const secret = parseSecret(secretWord);
  const algorithm = algorithmWord.toLowerCase();
  if (name === null || secret === null || rest.length > 2 || !isTsigAlgorithm(algorithm)) {
    throw new UsageError(
      `--tsig must be ${keyForm}, with an algorithm such as ${algorithmDefault} and a secret in base64.`,
    );
  }
  return { name, algorithm, secret };
}

function describeLeftOut(leftOut: ImportPlan["leftOut"], zoneName: string): string[] {
  const ofZone = leftOut.filter(({ reason }) => reason === "zone");
  const types = [...new Set(ofZone.map(({ type }) => type))].join(" and ");
  const unsupported = leftOut.filter(({ reason }) => reason !== "zone");
  const shown = unsupported.slice(0, leftOutShownMax);
  const more = unsupported.length - shown.length;
  return [
    ...linesIf(ofZone.length > 0, `Left out ${types} of ${zoneName}: every zone here has its own.`),
    ...linesIf(
      unsupported.length > 0,
      `Left out ${counted(unsupported.length, "record")} that the record API cannot hold:`,
      formatTable(shown.map(({ name, type, content }) => [`  ${name}`, type, content])),
      ...linesIf(more > 0, `  … and ${more} more; --json lists all of them.`),
    ),
  ];
}

/** The API's limit for one file. */
const fileBytesMax = 262_144;

/**
 * Sends the parts of a file or a plan. The API adds all records of a part or none: if the API refuses
 * a part, the records of earlier parts stay.
 */
async function upload(
  api: ApiClient,
  zoneId: string,
  parts: Iterable<ImportPart>,
  { proxied, recordCount }: { readonly proxied: boolean; readonly recordCount?: number },
): Promise<{ added: number; parsed: number; remarks: readonly string[] }> {
  const progress = new Progress();
  const sum = { added: 0, parsed: 0, remarks: [] as string[] };
  try {
    for (const part of parts) {
      if (recordCount !== undefined) {
        progress.show(`Adding ${sum.parsed} of ${counted(recordCount, "record")}`);
      }
      const result = await api
        .importFile(zoneId, part.text, { proxied })
        .catch((error: unknown) => {
          throw explain(error, part, sum.added);
        });
      sum.added += result.recs_added;
      sum.parsed += result.total_records_parsed;
      sum.remarks.push(...result.remarks);
    }
    return sum;
  } finally {
    progress.end();
  }
}

function explain(error: unknown, part: ImportPart, added: number): unknown {
  if (!(error instanceof ApiError)) return error;
  const { problems } = error;
  const lines = [
    ...problems.map((found) => placeProblem(describe(found), part)),
    ...linesIf(
      added > 0,
      `Added ${counted(added, "record")} before this error: correct the record, and run the command ` +
        "again for the rest.",
    ),
  ];
  return new UserError(lines.join("\n"), { cause: error });
}

/** Replaces `Line 3: …`, which counts in the part, with the place of the record in the source. */
export function placeProblem(message: string, { places }: ImportPart): string {
  return message.replace(/^Line (\d+)(?=: )/, (line, number: string) => {
    return places[Number(number) - 1] ?? line;
  });
}

export interface PlannedRecord {
  readonly draft: RecordDraft;
  /** The place in the source: `Line 12` of a file, or the name and type in a transfer. */
  readonly place: string;
}

export interface ImportPlan {
  readonly records: readonly PlannedRecord[];
  readonly leftOut: readonly {
    readonly name: string;
    readonly type: string;
    readonly content: string;
    readonly reason: "zone" | "type" | "data";
  }[];
  readonly movedTtls: readonly {
    readonly name: string;
    readonly type: string;
    readonly ttl: number;
    readonly to: number;
  }[];
}

export interface ImportPart {
  readonly text: string;
  /** The place of each line's record in the source. */
  readonly places: readonly string[];
}

/** Accepts what any server may accept. The server applies the rules of its own configuration. */
const permissiveRules = {
  nameRules: "dns",
  platformAddresses: [],
  commentCharactersMax: Infinity,
  tagsMax: Infinity,
} as const;

const problemsShownMax = 100;

/** Plans the import of a file that is too large for one request. */
export function planFile(
  text: string,
  options: { readonly zoneName: string; readonly proxied: boolean },
): ImportPlan {
  try {
    const parsed = parseZoneFile(text, { ...options, recordsMax: Infinity });
    const requests = parsed.map(({ request, line }) => ({ request, place: `Line ${line}` }));
    const movedTtls = parsed.flatMap(({ request, ttlMovedFrom: ttl }) => {
      const { name, type, ttl: to } = request as { name: string; type: string; ttl: number };
      return ttl === null ? [] : [{ name: name.slice(0, -1), type, ttl, to }];
    });
    return { records: draftRecords(requests, options.zoneName), leftOut: [], movedTtls };
  } catch (error) {
    if (!(error instanceof ZoneError)) throw error;
    throw new UserError(error.problems.map(describe).join("\n"));
  }
}

/** Plans the import of a transferred zone. */
export function planTransfer(records: readonly ResourceRecord[], zoneName: string): ImportPlan {
  const requests: { request: RecordRequest; place: string }[] = [];
  const leftOut: ImportPlan["leftOut"][number][] = [];
  const movedTtls: ImportPlan["movedTtls"][number][] = [];
  for (const record of records) {
    const { name } = record;
    const type = nameOfType(record.type);
    const request = requestOf(record, zoneName);
    if (typeof request === "string") {
      leftOut.push({ name, type, content: formatData(record.type, record.data), reason: request });
      continue;
    }
    const { ttl } = request;
    const to = nearestTtl(ttl);
    if (to !== ttl) movedTtls.push({ name, type, ttl, to });
    requests.push({
      request: { ...request, name: `${name}.`, ttl: to },
      place: `${name} ${type}`,
    });
  }
  return { records: draftRecords(requests, zoneName), leftOut, movedTtls };
}

/** The request for a record, or the reason to leave it out. */
function requestOf(record: ResourceRecord, zoneName: string) {
  const isApex = record.name.toLowerCase() === zoneName;
  if (record.type === typeCodes.SOA || (record.type === typeCodes.NS && isApex)) return "zone";
  if (record.class !== classCodes.IN) return "type";
  try {
    return toRecordRequest(record) ?? "type";
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return "data";
  }
}

/**
 * Accepts each request. Proxied records come last: the API requires that the target of a proxied
 * record exists.
 *
 * @throws UserError with all problems
 */
function draftRecords(
  requests: readonly { readonly request: RecordRequest; readonly place: string }[],
  zoneName: string,
): readonly PlannedRecord[] {
  const rules = { ...permissiveRules, zoneName };
  const records: PlannedRecord[] = [];
  const problems: string[] = [];
  for (const { request, place } of requests) {
    const draft = acceptRecord(request, rules, (problem) => {
      problems.push(`${place}: ${describe(problem)}`);
    });
    if (draft !== undefined) records.push({ draft, place });
  }
  if (problems.length === 0) {
    return records.sort((one, other) => Number(one.draft.proxied) - Number(other.draft.proxied));
  }
  const lines = problems.slice(0, problemsShownMax);
  const more = problems.length - lines.length;
  if (more > 0) lines.push(`… and ${more} more.`);
  throw new UserError(lines.join("\n"));
}

function describe({ message, code, error_chain = [] }: ApiProblem): string {
  return [`${message} (${code})`, ...error_chain.map((cause) => cause.message)].join(" ");
}

export function* partsOf(
  records: readonly PlannedRecord[],
  bytesMax: number,
): Generator<ImportPart> {
  let lines: string[] = [];
  let places: string[] = [];
  let bytes = 0;
  for (const { draft, place } of records) {
    const line = `${composeLine(draft)}\n`;
    const length = Buffer.byteLength(line);
    if (lines.length > 0 && bytes + length > bytesMax) {
      yield { text: lines.join(""), places };
      [lines, places, bytes] = [[], [], 0];
    }
    lines.push(line);
    places.push(place);
    bytes += length;
  }
  if (lines.length > 0) yield { text: lines.join(""), places };
}
