import { decodeBase64, encodeBase64 } from "../../wire/base64.ts";
import { decodeHex, encodeHex } from "../../../base/hex.ts";
import { problem, type Problem, type ReportProblem } from "../problem.ts";
import type { Field } from "./field.ts";

/** Octets up to the end of the record; the text form may contain blanks. */
function octets(
  decode: (text: string) => Uint8Array | null,
  encode: (bytes: Uint8Array) => string,
  refuse: (name: string) => Problem,
): Field<string> {
  return {
    rest: true,
    accept(input, name) {
      const text = typeof input === "string" ? input.replaceAll(/\s/g, "") : "";
      const bytes = text === "" ? null : decode(text);
      return bytes === null ? refuse(name) : encode(bytes);
    },
    compose: (value) => value,
    parse: (tokens) => tokens.map(({ text }) => text).join(""),
    write: (writer, value) => writer.bytes(decode(value)!),
    read: (reader) => encode(reader.rest()),
  };
}

export const hexadecimal = octets(decodeHex, encodeHex, problem.notHexadecimal);
export const base64 = octets(decodeBase64, encodeBase64, problem.notBase64);

/** `bytes` is the length of the algorithm's digests; `undefined` means that any length is valid. */
export function checkDigestLength(
  name: string,
  digest: string,
  bytes: number | undefined,
  report: ReportProblem,
): void {
  if (bytes !== undefined && digest.length !== bytes * 2) report(problem.octetLength(name, bytes));
}
