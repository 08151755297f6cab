/** The arguments and options of `add` and `set`, as the fields of a request to the record API. */
import { UsageError, type Invocation } from "../command.ts";
import { defined, integerOption, textOption } from "../options.ts";
import { parseContent, parseType } from "./record-content.ts";

type RecordFields = Readonly<Record<string, unknown>>;

export interface RecordWords {
  readonly zone: string;
  readonly name: string;
  readonly type: string;
  /** The fields for a zone of this name: content, and the options that the user gives. */
  readonly fieldsIn: (zoneName: string) => RecordFields;
}

/** @throws UsageError for a mistake in the words, before the command looks for a server */
export function readRecord(invocation: Invocation): RecordWords {
  const [zone, name, typeWord, ...words] = invocation.arguments as [
    string,
    string,
    string,
    ...string[],
  ];
  const type = parseType(typeWord);
  const priority = integerOption(invocation, "priority");
  const options = defined<RecordFields>({
    ttl: integerOption(invocation, "ttl"),
    proxied: proxiedOption(invocation),
    comment: textOption(invocation, "comment"),
    tags: invocation.options["tag"],
  });
  const fieldsIn = (zoneName: string): RecordFields => ({
    ...parseContent({ type, words, zoneName, ...(priority !== undefined && { priority }) }),
    ...options,
  });
  fieldsIn("");
  return { zone, name, type, fieldsIn };
}

function proxiedOption({ options }: Invocation): boolean | undefined {
  const [isProxied, isDnsOnly] = [options["proxied"] === true, options["dns-only"] === true];
  if (isProxied && isDnsOnly) {
    throw new UsageError("--proxied and --dns-only exclude each other: use one of them.");
  }
  return isProxied ? true : isDnsOnly ? false : undefined;
}
