/**
 * A question as `ledge dns dig` asks it, and the reply as the command shows it: an answer as a zone
 * file, with everything else in comments.
 */
import { createPublicKey, verify, type KeyObject } from "node:crypto";
import { isIPv6 } from "node:net";
import { counted, formatTable } from "../../base/format.ts";
import type { ServerAddress } from "../config/dns-table.ts";
import { decodeSignature, signatureAlgorithm, signedOctets } from "../dnssec/signature.ts";
import { keySigningFlags, keyTagOf } from "../dnssec/zone-signing.ts";
import { formatData } from "../record/presentation.ts";
import type { Message } from "../wire/message.ts";
import { encodeName, formatName, textKey } from "../wire/name.ts";
import { rcodeName, typeCodes } from "../wire/numbers.ts";
import type { ResourceRecord } from "../wire/resource-record.ts";
import { soaSerial } from "../transfer/incoming.ts";
import {
  askHttps,
  askServer,
  httpsMilliseconds,
  nameOfType,
  type AskedQuestion,
  type AskOptions,
  type DnsReply,
  type Stream,
} from "./ask-server.ts";
import { fetchTransfer } from "./fetch-zone.ts";

export interface DigResult {
  readonly question: AskedQuestion;
  readonly reply: DnsReply;
  readonly server: string;
  readonly milliseconds: number;
  /** The signatures of the answer; `null` when they were not asked for. */
  readonly signatures: readonly CheckedSignature[] | null;
  /** The rules that produced the answer; `null` for a server that does not name them. */
  readonly reasons: readonly AnswerReason[] | null;
}

/** A rule that Ledge's own server applied, as its API names the rule. */
interface AnswerReason {
  readonly rule: string;
  readonly name: string;
  readonly text: string;
}

const flagNames = {
  response: "qr",
  authoritative: "aa",
  truncated: "tc",
  recursionDesired: "rd",
  recursionAvailable: "ra",
  authenticData: "ad",
  checkingDisabled: "cd",
} as const;

function flagsOf(message: Message): string[] {
  return Object.entries(flagNames)
    .filter(([name]) => message[name as keyof typeof flagNames])
    .map(([, flag]) => flag);
}

function absolute(name: string): string {
  return name === "." ? name : `${name}.`;
}

/**
 * Asks the question, and measures the time until the answer arrives.
 *
 * @param server a name server, or the URL of an API, which answers over HTTPS
 * @throws UserError when no answer arrives
 */
export async function timeQuestion(
  question: AskedQuestion,
  server: ServerAddress | string,
  options: AskOptions,
): Promise<Omit<DigResult, "reasons">> {
  const ask = (asked: AskedQuestion) =>
    typeof server === "string"
      ? askHttps(asked, server, options)
      : askServer(asked, server, options);
  const start = performance.now();
  const reply = await ask(question);
  const milliseconds = Math.round(performance.now() - start);
  const fetchKeys = async (name: string) => {
    const { message } = await ask({ name, type: typeCodes.DNSKEY });
    return message.answers.filter(({ type }) => type === typeCodes.DNSKEY);
  };
  const nowSeconds = Math.floor(Date.now() / 1000);
  const signatures = options.dnssec
    ? await checkSignatures(reply.message, fetchKeys, nowSeconds)
    : null;
  return { question, reply, server: serverText(server), milliseconds, signatures };
}

function serverText(server: ServerAddress | string): string {
  if (typeof server === "string") return new URL(server).host;
  const { host, port } = server;
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * Asks the API for the rules of the same answer; `null` when the server does not name them.
 *
 * @param url of the record API
 */
export async function fetchReasons(
  { name, type }: AskedQuestion,
  url: string,
  { dnssec = false, headers }: AskOptions,
): Promise<DigResult["reasons"]> {
  const address = new URL("/dns-query", url);
  address.search = new URLSearchParams({
    name,
    type: String(type),
    explain: "true",
    ...(dnssec && { do: "true" }),
  }).toString();
  try {
    const response = await fetch(address, {
      headers: { ...headers, accept: "application/dns-json" },
      signal: AbortSignal.timeout(httpsMilliseconds),
    });
    const { Reasons = null } = (await response.json()) as { Reasons?: DigResult["reasons"] };
    return Reasons;
  } catch {
    return null;
  }
}

export function digText(result: DigResult): string {
  const { question, server, milliseconds, reasons } = result;
  const { message, transport, octets } = result.reply;
  const flags = flagsOf(message).join(" ");
  const blocks = [
    [
      `;; ${absolute(question.name)} ${nameOfType(question.type)}: ${rcodeName(message.rcode)}, flags ${flags}`,
      `;; ${server} by ${transport.toUpperCase()}, ${octets} octets in ${milliseconds} ms`,
    ],
    section("Answer", message.answers),
    section("Authority", message.authorities),
    section("Additional", message.additionals),
    signatureLines(result),
    reasons === null || reasons.length === 0
      ? []
      : [";; Why", ...reasons.map(({ text }) => `;;   ${text}`)],
  ];
  return joinBlocks(blocks);
}

function joinBlocks(blocks: readonly (readonly string[])[]): string {
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

function signatureLines({ signatures }: DigResult): string[] {
  if (signatures === null) return [];
  if (signatures.length === 0) return [";; Signatures: none"];
  const lines = signatures.map((each) => {
    const key = `key ${each.key_tag}${each.role === null ? "" : ` (${each.role})`}`;
    return (
      `;;   ${absolute(each.name)} ${each.type}: ${each.verdict}, by ${key} of ` +
      `${absolute(each.signer)}, from ${each.valid_from} until ${each.valid_until}`
    );
  });
  return [";; Signatures", ...lines];
}

function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000", "");
}

function section(title: string, records: readonly ResourceRecord[]): string[] {
  const rows = records.map((record) => {
    const { name, ttl, type, data } = recordJson(record);
    return [absolute(name), String(ttl), "IN", type, data];
  });
  return rows.length === 0 ? [] : [`;; ${title}`, formatTable(rows)];
}

export function digJson({ question, reply, server, milliseconds, signatures, reasons }: DigResult) {
  const { message, transport, octets } = reply;
  return {
    question: { name: question.name, type: nameOfType(question.type) },
    status: rcodeName(message.rcode),
    flags: flagsOf(message),
    answers: message.answers.map(recordJson),
    authorities: message.authorities.map(recordJson),
    additionals: message.additionals.map(recordJson),
    ...(signatures !== null && { signatures }),
    reasons,
    server,
    transport,
    octets,
    milliseconds,
  };
}

/** A zone, or its changes, as a server transfers it. */
export interface TransferResult extends Awaited<ReturnType<typeof fetchTransfer>> {
  readonly zoneName: string;
  readonly fromSerial: number | undefined;
  readonly server: string;
  readonly transport: Stream;
  readonly milliseconds: number;
}

/** @throws UserError when the server does not transfer the zone */
export async function timeTransfer(
  zoneName: string,
  fromSerial: number | undefined,
  server: ServerAddress,
  transport: Stream = "tcp",
): Promise<TransferResult> {
  const start = performance.now();
  const fetched = await fetchTransfer({ zoneName, fromSerial, ...server, transport });
  const milliseconds = Math.round(performance.now() - start);
  return { ...fetched, zoneName, fromSerial, server: serverText(server), transport, milliseconds };
}

/** A whole zone is a zone file. Changes are the records that each serial removed and added. */
export function transferText(result: TransferResult): string {
  const { zoneName, fromSerial, records, octets, messages, milliseconds } = result;
  const changes = changesIn(records);
  const serial = soaSerial(records[0]!);
  const type = fromSerial === undefined ? "AXFR" : `IXFR=${fromSerial}`;
  const isCurrent = fromSerial !== undefined && records.length === 1;
  const what = isCurrent
    ? "nothing newer"
    : changes === null
      ? `the whole zone, ${counted(records.length, "record")}`
      : `the changes up to serial ${serial}`;
  const blocks = [
    [
      `;; ${absolute(zoneName)} ${type}: ${what}`,
      `;; ${result.server} by ${result.transport.toUpperCase()}, ${octets} octets in ` +
        `${counted(messages, "message")} in ${milliseconds} ms`,
    ],
    ...(changes === null
      ? [section(`Zone, serial ${serial}`, records)]
      : changes.flatMap(({ from, to, removed, added }) => [
          section(`Removed after serial ${from}`, removed),
          section(`Added in serial ${to}`, added),
        ])),
  ];
  return joinBlocks(blocks);
}

export function transferJson(result: TransferResult) {
  const { zoneName, fromSerial, records, server, transport, octets, messages, milliseconds } =
    result;
  const changes = changesIn(records);
  return {
    question: { name: zoneName, type: fromSerial === undefined ? "AXFR" : "IXFR" },
    serial: soaSerial(records[0]!),
    ...(changes === null
      ? { records: records.map(recordJson) }
      : {
          changes: changes.map(({ from, to, removed, added }) => ({
            from,
            to,
            removed: removed.map(recordJson),
            added: added.map(recordJson),
          })),
        }),
    server,
    transport,
    octets,
    messages,
    milliseconds,
  };
}

interface ZoneChanges {
  readonly from: number;
  readonly to: number;
  /** With the SOA. */
  readonly removed: readonly ResourceRecord[];
  readonly added: readonly ResourceRecord[];
}

/** The changes of an incremental transfer (RFC 1995 section 4); `null` for a zone. */
function changesIn([, ...records]: readonly ResourceRecord[]): ZoneChanges[] | null {
  const starts = records.flatMap(({ type }, index) => (type === typeCodes.SOA ? index : []));
  if (starts[0] !== 0) return null;
  const changes: ZoneChanges[] = [];
  for (let at = 0; at + 1 < starts.length; at += 2) {
    const removed = records.slice(starts[at], starts[at + 1]);
    const added = records.slice(starts[at + 1], starts[at + 2]);
    changes.push({ from: soaSerial(removed[0]!), to: soaSerial(added[0]!), removed, added });
  }
  return changes;
}

function recordJson({ name, ttlSeconds, type, data }: ResourceRecord) {
  return { name, ttl: ttlSeconds, type: nameOfType(type), data: formatData(type, data) };
}

interface CheckedSignature {
  readonly name: string;
  /** That the signature covers. */
  readonly type: string;
  readonly verdict: string;
  readonly key_tag: number;
  /** `null` when the key is unknown. */
  readonly role: "KSK" | "ZSK" | null;
  readonly signer: string;
  readonly valid_from: string;
  readonly valid_until: string;
}

/** Flags, protocol and algorithm precede the key (RFC 4034 section 2.1). */
const keyOffset = 4;
const coordinateBytes = 32;

/**
 * The signatures of a reply, and whether they fit: each RRSIG record is checked with the DNSKEY
 * records of its signer and with the clock. The chain of DS records above is not followed.
 *
 * @param fetchKeys resolves to the DNSKEY records of a zone
 */
async function checkSignatures(
  { answers, authorities }: Message,
  fetchKeys: (zone: string) => Promise<readonly ResourceRecord[]>,
  nowSeconds: number,
): Promise<CheckedSignature[]> {
  const keysByZone = new Map<string, readonly ResourceRecord[]>();
  const checked: CheckedSignature[] = [];
  for (const records of [answers, authorities]) {
    for (const record of records.filter(({ type }) => type === typeCodes.RRSIG)) {
      const { fields } = decodeSignature(record.data);
      const signer = formatName(fields.signerName);
      const keys = keysByZone.get(signer) ?? (await fetchKeys(signer));
      keysByZone.set(signer, keys);
      const key = keys.find(({ data }) => keyTagOf(data) === fields.keyTag);
      checked.push({
        name: record.name,
        type: nameOfType(fields.typeCovered),
        verdict: judge(record, records, key?.data, nowSeconds),
        key_tag: fields.keyTag,
        role: key === undefined ? null : roleOf(key.data),
        signer,
        valid_from: timeText(fields.inceptionSeconds),
        valid_until: timeText(fields.expirationSeconds),
      });
    }
  }
  return checked;
}

function roleOf(dnskey: Uint8Array): "KSK" | "ZSK" {
  return ((dnskey[0]! << 8) | dnskey[1]!) === keySigningFlags ? "KSK" : "ZSK";
}

function judge(
  record: ResourceRecord,
  others: readonly ResourceRecord[],
  dnskey: Uint8Array | undefined,
  nowSeconds: number,
): string {
  const { fields, signature } = decodeSignature(record.data);
  if (dnskey === undefined) return "of an unknown key";
  if (fields.algorithm !== signatureAlgorithm) return "of an algorithm that is not checked";
  const owner = textKey(record.name);
  const data = others
    .filter(({ name, type }) => type === fields.typeCovered && textKey(name) === owner)
    .map((each) => each.data);
  const set = { owner: encodeName(record.name), type: fields.typeCovered, data };
  const encoding = { key: readKey(dnskey), dsaEncoding: "ieee-p1363" } as const;
  if (!verify("sha256", signedOctets(set, fields), encoding, signature)) return "wrong";
  if (nowSeconds < fields.inceptionSeconds) return "not yet valid";
  return nowSeconds < fields.expirationSeconds ? "valid" : "expired";
}

function readKey(dnskey: Uint8Array): KeyObject {
  const text = (from: number) =>
    Buffer.from(dnskey.subarray(from, from + coordinateBytes)).toString("base64url");
  const [x, y] = [text(keyOffset), text(keyOffset + coordinateBytes)];
  return createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
}
