/** The reply of a name server as `ledge dns dig` shows it: an answer as a zone file, with everything else in comments. */
import type { Message } from "../wire/message.ts";
import type { ResourceRecord } from "../wire/resource-record.ts";
import { rcodeName } from "../wire/numbers.ts";
import { formatData } from "../record/presentation.ts";
import type { CheckedSignature } from "./check-signatures.ts";
import type { AskedQuestion, DnsReply } from "./ask-server.ts";
import { formatTable } from "../../base/format.ts";
import { nameOfType } from "./type-names.ts";

export interface DigResult {
  readonly question: AskedQuestion;
  readonly reply: DnsReply;
  /** The address of the server. */
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
  /** The name that the rule was applied to. */
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
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

function signatureLines({ signatures }: DigResult): string[] {
  if (signatures === null) return [];
  if (signatures.length === 0) return [";; Signatures: none"];
  const lines = signatures.map((each) => {
    const key = `key ${each.keyTag}${each.role === null ? "" : ` (${each.role})`}`;
    return (
      `;;   ${absolute(each.owner)} ${nameOfType(each.typeCovered)}: ${each.verdict}, by ${key} of ` +
      `${absolute(each.signer)}, from ${timeText(each.inceptionSeconds)} until ` +
      timeText(each.expirationSeconds)
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
    ...(signatures !== null && { signatures: signatures.map(signatureJson) }),
    reasons,
    server,
    transport,
    octets,
    milliseconds,
  };
}

function signatureJson(signature: CheckedSignature) {
  const { owner, typeCovered, keyTag, role, signer, verdict } = signature;
  return {
    name: owner,
    type: nameOfType(typeCovered),
    verdict,
    key_tag: keyTag,
    role,
    signer,
    valid_from: timeText(signature.inceptionSeconds),
    valid_until: timeText(signature.expirationSeconds),
  };
}

function recordJson({ name, ttlSeconds, type, data }: ResourceRecord) {
  return { name, ttl: ttlSeconds, type: nameOfType(type), data: formatData(type, data) };
}
