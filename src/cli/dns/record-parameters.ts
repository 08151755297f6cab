/** The arguments and options that describe a record, as the fields of a request to the record API. */
import { UsageError, type Argument, type Invocation, type Option } from "../command.ts";
import { defined, integerOption, textOption } from "../options.ts";
import { zoneArgument } from "./find-zone.ts";
import { parseContent, parseType } from "./record-content.ts";

export const nameArgument: Argument = {
  name: "NAME",
  summary: 'A name in the zone, relative or full; "@" is the zone itself',
};
export const typeArgument: Argument = {
  name: "TYPE",
  summary: "The type of the record, such as A or TXT",
};
export const contentArgument: Argument = {
  name: "CONTENT",
  summary: "The data of the record, as in a zone file",
  repeated: true,
};

export const recordArguments = [zoneArgument, nameArgument, typeArgument, contentArgument];

export const recordOptions: Record<string, Option> = {
  ttl: { summary: "Seconds, 60 to 86400; 1 stands for automatic", value: "SECONDS" },
  proxied: { summary: "Answers with the addresses of the platform" },
  "dns-only": { summary: "Answers with the record itself" },
  priority: { summary: "The priority of MX, SRV or URI, if CONTENT has none", value: "NUMBER" },
  comment: { summary: "A comment; empty text removes it", value: "TEXT" },
  tag: { summary: "A tag of the record", value: "NAME:VALUE", repeated: true },
};

/** @throws UsageError for a mistake in the words, before the command looks for a server */
export function readRecord(invocation: Invocation) {
  const [zone, name, typeWord, ...words] = invocation.arguments as [
    string,
    string,
    string,
    ...string[],
  ];
  const type = parseType(typeWord);
  const priority = integerOption(invocation, "priority");
  const options = defined<Readonly<Record<string, unknown>>>({
    ttl: integerOption(invocation, "ttl"),
    proxied: proxiedOption(invocation),
    comment: textOption(invocation, "comment"),
    tags: invocation.options["tag"],
  });
  /** The fields for a zone of this name: content, and the options that the user gives. */
  const fieldsIn = (zoneName: string) => ({
    ...parseContent({ type, words, zoneName, ...(priority !== undefined && { priority }) }),
    ...options,
  });
  fieldsIn("");
  return { zone, name, type, fieldsIn };
}

function proxiedOption({ options }: Invocation): boolean | undefined {
  if (options["proxied"] !== true) return options["dns-only"] === true ? false : undefined;
  if (options["dns-only"] !== true) return true;
  throw new UsageError("--proxied and --dns-only exclude each other: use one of them.");
}
