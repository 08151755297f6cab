/** Parses the output of dig, kdig and drill into replies that can be compared. */
export interface PrintedReply {
  readonly status: string;
  readonly authoritative: boolean;
  readonly truncated: boolean;
  readonly answer: readonly string[];
  readonly authority: readonly string[];
  readonly additional: readonly string[];
}

/** Every reply in the output of a client, in order. */
export function parseReplies(output: string): PrintedReply[] {
  return output.split("->>HEADER<<-").slice(1).map(parseReply);
}

function parseReply(text: string): PrintedReply {
  const flags = /;; flags: ([a-z ]*)/i.exec(text)?.[1]?.split(" ") ?? [];
  return {
    status: /(?:status|rcode): ([A-Z]+)/.exec(text)?.[1] ?? "",
    authoritative: flags.includes("aa"),
    truncated: flags.includes("tc"),
    answer: section(text, "ANSWER"),
    authority: section(text, "AUTHORITY"),
    additional: section(text, "ADDITIONAL"),
  };
}

/** Sorted, because the order of records has no meaning. */
function section(text: string, name: string): string[] {
  const start = text.indexOf(`;; ${name} SECTION:\n`);
  if (start < 0) return [];
  const [, ...lines] = text.slice(start).split("\n");
  const end = lines.findIndex((line) => line === "" || line.startsWith(";;"));
  return lines
    .slice(0, end < 0 ? undefined : end)
    .filter((line) => !line.startsWith(";"))
    .map((line) => line.replaceAll(/\s+/g, " ").trim())
    .sort();
}
