/** The options of `add` and `set`, as the fields of a request. */
import { UsageError, type Invocation } from "../command.ts";
import { parseContent, parseType } from "./content.ts";
import { textOption } from "./output.ts";

export interface RecordWords {
  readonly zone: string;
  readonly name: string;
  readonly type: string;
  readonly words: readonly string[];
}

export function recordWords({ arguments: given }: Invocation): RecordWords {
  const [zone, name, type, ...words] = given as [string, string, string, ...string[]];
  return { zone, name, type: parseType(type), words };
}

/** What the record says, and of the rest what was asked for. */
export function recordFields(
  invocation: Invocation,
  { type, words }: RecordWords,
  zoneName: string,
): Readonly<Record<string, unknown>> {
  const { options } = invocation;
  const ttl = numberOption(invocation, "ttl");
  const priority = numberOption(invocation, "priority");
  const comment = textOption(invocation, "comment");
  const proxied = proxiedOption(invocation);
  return {
    ...parseContent({ type, words, zoneName, ...(priority !== undefined && { priority }) }),
    ...(ttl !== undefined && { ttl }),
    ...(proxied !== undefined && { proxied }),
    ...(comment !== undefined && { comment }),
    ...(options["tag"] !== undefined && { tags: options["tag"] }),
  };
}

function proxiedOption({ options }: Invocation): boolean | undefined {
  const [on, off] = [options["proxied"] === true, options["dns-only"] === true];
  if (on && off) throw new UsageError("--proxied and --dns-only exclude each other.");
  return on ? true : off ? false : undefined;
}

function numberOption(invocation: Invocation, name: string): number | undefined {
  const text = textOption(invocation, name);
  if (text === undefined) return undefined;
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new UsageError(`--${name} must be a whole number, not "${text}".`);
}
