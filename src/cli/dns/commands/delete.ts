import { isTextKind } from "../../../dns/rules/accept-record.ts";
import { expandName } from "../../../dns/record/record-name.ts";
import { recordType } from "../../../dns/record/registry.ts";
import { nearest } from "../../../base/nearest.ts";
import { UserError } from "../../../base/user-error.ts";
import { NotFoundError, type Invocation } from "../../command.ts";
import type { ApiClient, ApiRecord, ApiZone } from "../../../dns/client/api-client.ts";
import { parseContent, parseType } from "../content.ts";
import { counted } from "../../../base/format.ts";
import { print } from "../output.ts";
import { contentText, recordsText } from "../record-text.ts";
import { withDns } from "../dns-session.ts";
import { findZone } from "../zone.ts";

/** Far below what a batch may hold. */
const deletesPerBatch = 1000;

export function deleteRecords(invocation: Invocation): Promise<void> {
  const [word, given, typeWord, ...words] = invocation.arguments as [string, string, ...string[]];
  const type = typeWord === undefined ? undefined : storedType(parseType(typeWord));
  return withDns(invocation, async ({ api }) => {
    const zone = await findZone(api, word);
    const name = expandName(given, zone.name);
    const named = await api.records(zone.id, { name });
    const ofType = named.filter((record) => type === undefined || record.type === type);
    const fitting =
      type === undefined || words.length === 0
        ? ofType
        : ofType.filter(saysAs(type, words, zone.name));
    if (fitting.length === 0) throw await notThere(api, zone, { name, named });
    if (fitting.length > 1 && invocation.options["all"] !== true) {
      throw new UserError(
        `${counted(fitting.length, "record")} fit: say which by TYPE and CONTENT, or --all.\n` +
          recordsText(fitting),
      );
    }
    for (let start = 0; start < fitting.length; start += deletesPerBatch) {
      const part = fitting.slice(start, start + deletesPerBatch);
      await api.batch(zone.id, { deletes: part.map(({ id }) => ({ id })) });
    }
    print(invocation, { deleted: fitting }, `Deleted\n${recordsText(fitting)}`);
  });
}

/** Types that are TXT by another name. */
function storedType(type: string): string {
  return isTextKind(type) ? "TXT" : type;
}

/** Content in any form that means the same, or exactly as it is listed. */
function saysAs(type: string, words: readonly string[], zoneName: string) {
  const definition = recordType(type);
  const listed = words.join(" ");
  let wanted = listed;
  try {
    const rdata = definition.accept(parseContent({ type, words, zoneName }), "", () => {});
    const priority = definition.topLevelPriority ? `${String(rdata?.["priority"])} ` : "";
    if (rdata !== undefined) wanted = priority + definition.content(rdata);
  } catch (error) {
    // MX without its priority, for one.
    if (!(error instanceof UserError)) throw error;
  }
  return (record: ApiRecord): boolean => {
    const text = contentText(record);
    return text === wanted || text === listed || record.content === listed.toLowerCase();
  };
}

async function notThere(
  api: ApiClient,
  zone: ApiZone,
  { name, named }: { name: string; named: readonly ApiRecord[] },
): Promise<NotFoundError> {
  if (named.length > 0) {
    return new NotFoundError(`No record fits. ${name} has\n${recordsText(named)}`);
  }
  const others = new Set((await api.records(zone.id, {})).map((record) => record.name));
  const guess = nearest(name, others);
  return new NotFoundError(
    `${zone.name} has no record named ${name}.` + (guess === null ? "" : ` Did you mean ${guess}?`),
  );
}
