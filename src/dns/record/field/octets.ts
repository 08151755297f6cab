import { decodeBase64, encodeBase64 } from "../../wire/base64.ts";
import { decodeHex, encodeHex } from "../../../base/hex.ts";
import { problem, type Problem } from "../problem.ts";
import type { Field } from "./field.ts";

/** Octets up to the end of the record; the text form may contain blanks. */
function octets(options: {
  readonly decode: (text: string) => Uint8Array | null;
  readonly encode: (bytes: Uint8Array) => string;
  readonly refuse: (field: string) => Problem;
}): Field<string> {
  return {
    rest: true,
    accept(input, { field, report }) {
      const text = typeof input === "string" ? input.replaceAll(/\s/g, "") : "";
      const bytes = text === "" ? null : options.decode(text);
      if (bytes !== null) return options.encode(bytes);
      report(options.refuse(field));
      return undefined;
    },
    compose: (value) => value,
    parse: (tokens) => tokens.map(({ text }) => text).join(""),
    write: (writer, value) => writer.bytes(options.decode(value)!),
    read: (reader) => options.encode(reader.rest()),
  };
}

export const hexadecimal = octets({
  decode: decodeHex,
  encode: encodeHex,
  refuse: problem.notHexadecimal,
});

export const base64 = octets({
  decode: decodeBase64,
  encode: encodeBase64,
  refuse: problem.notBase64,
});
