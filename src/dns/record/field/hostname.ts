import { problem, type Problem } from "../problem.ts";
import { toAsciiName } from "../punycode.ts";
import { isDnsName } from "../record-name.ts";
import type { Field } from "./field.ts";

/** The parts of an IPv4 address are valid labels, but an address as a target is a mistake. */
const dottedQuad = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/** Lower-case punycode without the final dot, or `null` when the text is not a hostname. */
export function normaliseHostname(input: string): string | null {
  let name = toAsciiName(input.trim());
  if (name.endsWith(".")) name = name.slice(0, -1);
  if (name === "" || dottedQuad.test(name)) return null;
  return isDnsName(name.startsWith("*.") ? name.slice(2) : name) ? name : null;
}

interface HostnameOptions {
  /** The root means "none" in SRV, NAPTR and MX, and "the owner" in SVCB; other types refuse it. */
  readonly rootAllowed?: boolean;
  readonly refuse?: (type: string) => Problem;
}

export function hostname(options: HostnameOptions = {}): Field<string> {
  return {
    accept(input, name, type) {
      if (options.rootAllowed === true && input === ".") return ".";
      const host = typeof input === "string" ? normaliseHostname(input) : null;
      return host ?? options.refuse?.(type) ?? problem.notAHostname(name);
    },
    compose: (value, form) => (form === "content" || value === "." ? value : `${value}.`),
    parse([token], origin) {
      const { text } = token!;
      if (text === "@") return origin;
      return text.endsWith(".") || origin === "" ? text : `${text}.${origin}`;
    },
    write: (writer, value) => writer.name(value),
    read: (reader) => reader.name(),
  };
}

/** A hostname that is the whole content of its record. */
export const hostnameContent = hostname({ refuse: problem.contentInvalid });
