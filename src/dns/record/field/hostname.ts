import { problem, type Problem } from "../problem.ts";
import { normaliseHostname } from "../hostname.ts";
import type { Field } from "./field.ts";

interface HostnameOptions {
  /** The root means "none" in SRV, NAPTR, MX and "the owner" in SVCB; elsewhere it is a mistake. */
  readonly rootAllowed?: boolean;
  readonly refuse?: (field: string, type: string) => Problem;
}

export function hostname(options: HostnameOptions = {}): Field<string> {
  return {
    accept(input, { field, type, report }) {
      const root = options.rootAllowed === true && input === ".";
      const name = root ? "." : typeof input === "string" ? normaliseHostname(input) : null;
      if (name !== null) return name;
      report(options.refuse?.(field, type) ?? problem.notAHostname(field));
      return undefined;
    },
    compose: (value, form) => (form === "content" || value === "." ? value : `${value}.`),
    parse([token], origin) {
      const { text } = token!;
      if (text === "@") return origin;
      return text.endsWith(".") || origin === "" ? text : `${text}.${origin}`;
    },
    write: (writer, value) => writer.name(value),
    take: (reader) => reader.name(),
  };
}

/** A hostname that is the whole content of its record. */
export const hostnameContent = hostname({ refuse: (_, type) => problem.contentInvalid(type) });
