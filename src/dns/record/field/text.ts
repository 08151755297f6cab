/** Fields of printable ASCII. */
import { characterStringBytesMax, quoteBytes, unescapeBytes } from "../../wire/character-string.ts";
import { decodeUtf8, encodeUtf8, WireError } from "../../wire/bytes.ts";
import { problem } from "../problem.ts";
import type { Field } from "./field.ts";

interface TextOptions {
  readonly pattern: RegExp;
  /** Completes the message "X must be …". */
  readonly rule: string;
  readonly quoted: boolean;
  /** Whether a length octet precedes the text or the text extends to the end of the record. */
  readonly length: "prefixed" | "rest";
  readonly lowerCase?: boolean;
  readonly fallback?: string;
}

const printablePattern = /^[\x20-\x7e]*$/;

function decodeText(bytes: Uint8Array): string {
  const decoded = decodeUtf8(bytes);
  if (decoded === null || !printablePattern.test(decoded))
    throw new WireError("A text is not printable ASCII");
  return decoded;
}

export function text(options: TextOptions): Field<string> {
  const prefixed = options.length === "prefixed";
  return {
    ...(options.fallback === undefined ? {} : { fallback: options.fallback }),
    accept(input, { field, report }) {
      const value = typeof input === "string" && options.lowerCase ? input.toLowerCase() : input;
      if (
        typeof value === "string" &&
        printablePattern.test(value) &&
        options.pattern.test(value) &&
        !(prefixed && value.length > characterStringBytesMax)
      ) {
        return value;
      }
      report(problem.textInvalid(field, options.rule));
      return undefined;
    },
    compose: (value) => (options.quoted ? quoteBytes(encodeUtf8(value)) : value),
    parse([token]) {
      const bytes = unescapeBytes(token!.text);
      return bytes === null ? null : decodeUtf8(bytes);
    },
    write(writer, value) {
      if (prefixed) writer.characterString(encodeUtf8(value));
      else writer.bytes(encodeUtf8(value));
    },
    read: (reader) => decodeText(prefixed ? reader.characterString() : reader.rest()),
  };
}
