import { problem } from "../problem.ts";
import { composeStrings, parseStrings } from "../text/quoting.ts";
import type { Field } from "./field.ts";

/** The content of a TXT record; the value is its canonical text, quotation marks included. */
export const strings: Field<string> = {
  rest: true,
  accept(input, { type, report }) {
    if (typeof input !== "string" || input === "") {
      report(problem.contentInvalid(type));
      return undefined;
    }
    const parsed = parseStrings(input);
    if (parsed === null) {
      report(problem.quotationMarks());
      return undefined;
    }
    return composeStrings(parsed);
  },
  compose: (value) => value,
  parse: (tokens) => tokens.map(({ text }) => `"${text}"`).join(" "),
  write(writer, value) {
    for (const string of parseStrings(value)!) writer.characterString(string);
  },
  take(reader) {
    const parsed: Uint8Array[] = [reader.characterString()];
    while (reader.remaining > 0) parsed.push(reader.characterString());
    return composeStrings(parsed);
  },
};
