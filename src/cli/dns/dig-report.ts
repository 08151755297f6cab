/** An answer for people, in the words of a zone file: what is not a record stands in a comment. */
import type { Message } from "../../dns/wire/message.ts";
import type { ResourceRecord } from "../../dns/wire/resource-record.ts";
import { rcodeName } from "../../dns/wire/numbers.ts";
import { formatData } from "../../dns/record/presentation.ts";
import type { AskedQuestion, DnsReply } from "../../dns/client/ask-server.ts";
import { formatTable } from "../../base/format.ts";
import { shownType } from "./shown-type.ts";

export interface Reason {
  readonly rule: string;
  readonly name: string;
  readonly text: string;
}

export interface DigResult {
  readonly question: AskedQuestion;
  readonly reply: DnsReply;
  /** Where it came from, in words. */
  readonly server: string;
  readonly milliseconds: number;
  /** `null` for a server that does not say. */
  readonly reasons: readonly Reason[] | null;
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

const sections = {
  answers: "Answer",
  authorities: "Authority",
  additionals: "Additional",
} as const;
const transports = { udp: "UDP", tcp: "TCP", https: "HTTPS" } as const;

function flagsOf(message: Message): string[] {
  return Object.entries(flagNames)
    .filter(([name]) => message[name as keyof typeof flagNames])
    .map(([, flag]) => flag);
}

function absolute(name: string): string {
  return name === "." ? name : `${name}.`;
}

export function digText(result: DigResult): string {
  const { question, reply, server, milliseconds, reasons } = result;
  const { message, transport, octets } = reply;
  const flags = flagsOf(message).join(" ");
  const blocks = [
    [
      `;; ${absolute(question.name)} ${shownType(question.type)}: ${rcodeName(message.rcode)}, flags ${flags}`,
      `;; ${server} by ${transports[transport]}, ${octets} octets in ${milliseconds} ms`,
    ],
    ...Object.entries(sections).map(([section, title]) => {
      const records = message[section as keyof typeof sections];
      return records.length === 0 ? [] : [`;; ${title}`, formatTable(records.map(cells))];
    }),
    reasons === null || reasons.length === 0
      ? []
      : [";; Why", ...reasons.map(({ text }) => `;;   ${text}`)],
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

function cells({ name, ttlSeconds, type, data }: ResourceRecord): string[] {
  return [absolute(name), String(ttlSeconds), "IN", shownType(type), formatData(type, data)];
}

export function digJson(result: DigResult): Record<string, unknown> {
  const { question, reply, server, milliseconds, reasons } = result;
  const { message, transport, octets } = reply;
  return {
    question: { name: question.name, type: shownType(question.type) },
    status: rcodeName(message.rcode),
    flags: flagsOf(message),
    ...Object.fromEntries(
      Object.keys(sections).map((section) => [
        section,
        message[section as keyof typeof sections].map(recordJson),
      ]),
    ),
    reasons,
    server,
    transport,
    octets,
    milliseconds,
  };
}

function recordJson({ name, ttlSeconds, type, data }: ResourceRecord): Record<string, unknown> {
  return { name, ttl: ttlSeconds, type: shownType(type), data: formatData(type, data) };
}
