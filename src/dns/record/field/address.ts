import { formatIpv4, formatIpv6, parseIpv4, parseIpv6 } from "../ip-address.ts";
import { problem, type Problem } from "../problem.ts";
import type { Field } from "./field.ts";

function address(options: {
  readonly bytes: number;
  readonly parse: (text: string) => Uint8Array | null;
  readonly format: (bytes: Uint8Array) => string;
  readonly refuse: () => Problem;
}): Field<string> {
  return {
    accept(input, { report }) {
      const bytes = typeof input === "string" ? options.parse(input.trim()) : null;
      if (bytes !== null) return options.format(bytes);
      report(options.refuse());
      return undefined;
    },
    compose: (value) => value,
    parse: ([token]) => token!.text,
    write: (writer, value) => writer.bytes(options.parse(value)!),
    take: (reader) => options.format(reader.bytes(options.bytes)),
  };
}

export const ipv4 = address({
  bytes: 4,
  parse: parseIpv4,
  format: formatIpv4,
  refuse: problem.ipv4Invalid,
});

export const ipv6 = address({
  bytes: 16,
  parse: parseIpv6,
  format: formatIpv6,
  refuse: problem.ipv6Invalid,
});
