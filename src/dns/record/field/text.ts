import { characterStringBytesMax, quoteBytes, unescapeBytes } from "../../wire/character-string.ts";
import { decodeUtf8, encodeUtf8, WireError } from "../../wire/bytes.ts";
import { problem } from "../problem.ts";
import type { Field } from "./field.ts";

interface TextOptions {
  /** Without a length octet the text extends to the end of the record. Default: true */
  readonly lengthOctet?: boolean;
  /** Default: true */
  readonly quoted?: boolean;
  readonly lowerCase?: boolean;
  readonly fallback?: string;
}

const printablePattern = /^[\x20-\x7e]*$/;

/** A field of printable ASCII; `rule` completes the message "X must be …". */
export function text(pattern: RegExp, rule: string, options: TextOptions = {}): Field<string> {
  const { lengthOctet = true, quoted = true, lowerCase = false, fallback } = options;
  const charactersMax = lengthOctet ? characterStringBytesMax : Infinity;
  return {
    fallback,
    accept(input, name) {
      const value = typeof input === "string" && lowerCase ? input.toLowerCase() : input;
      const isValid =
        typeof value === "string" &&
        printablePattern.test(value) &&
        pattern.test(value) &&
        value.length <= charactersMax;
      return isValid ? value : problem.textInvalid(name, rule);
    },
    compose: (value) => (quoted ? quoteBytes(encodeUtf8(value)) : value),
    parse([token]) {
      const bytes = unescapeBytes(token!.text);
      return bytes === null ? null : decodeUtf8(bytes);
    },
    write(writer, value) {
      if (lengthOctet) writer.characterString(encodeUtf8(value));
      else writer.bytes(encodeUtf8(value));
    },
    read(reader) {
      const value = decodeUtf8(lengthOctet ? reader.characterString() : reader.rest());
      if (value === null || !printablePattern.test(value)) {
        throw new WireError("A text is not printable ASCII");
      }
      return value;
    },
  };
}
