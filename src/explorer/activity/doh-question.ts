/** The question in the address of a query of DNS over HTTPS (RFC 8484), or of its JSON form. */
import { typeName } from "../../dns/record/presentation.ts";
import { decodeBase64, WireError } from "../../dns/wire/bytes.ts";
import { decodeMessage } from "../../dns/wire/message.ts";

export interface DohQuestion {
  readonly name: string;
  readonly type: string;
}

/** @returns `null` when the address has no question: a POST has its message in the body */
export function questionOf(parameters: URLSearchParams): DohQuestion | null {
  const message = parameters.get("dns");
  if (message !== null) return questionIn(message);
  const name = parameters.get("name");
  if (name === null) return null;
  const type = (parameters.get("type") ?? "A").toUpperCase();
  return { name, type: /^\d+$/.test(type) ? typeName(Number(type)) : type };
}

function questionIn(text: string): DohQuestion | null {
  const digits = text.replace(/=+$/, "").replaceAll("-", "+").replaceAll("_", "/");
  const bytes = decodeBase64(digits.padEnd(Math.ceil(digits.length / 4) * 4, "="));
  if (bytes === null) return null;
  try {
    const [question] = decodeMessage(bytes).questions;
    return question === undefined ? null : { name: question.name, type: typeName(question.type) };
  } catch (error) {
    if (error instanceof WireError) return null;
    throw error;
  }
}
