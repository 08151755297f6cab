/** `ledge dns delete` */
import { counted } from "../../base/format.ts";
import { nearest } from "../../base/nearest.ts";
import { NotFoundError, UserError } from "../../base/user-error.ts";
import type { ApiClient, ApiRecord, ApiZone } from "../../dns/client/api-client.ts";
import { expandName } from "../../dns/record/record-name.ts";
import type { LeafCommand } from "../command.ts";
import { print } from "../output.ts";
import { serverOptions, withDns } from "./dns-session.ts";
import { findZone, zoneArgument } from "./find-zone.ts";
import { contentMatcher, parseType, storedType } from "./record-content.ts";
import { contentArgument, nameArgument, typeArgument } from "./record-parameters.ts";
import { recordsText } from "./record-text.ts";

/** The API allows far larger batches. */
const deletesPerBatch = 1000;

export const deleteRecords: LeafCommand = {
  name: "delete",
  summary: "Deletes records",
  details: "If several records match, the command deletes nothing without --all.",
  arguments: [
    zoneArgument,
    nameArgument,
    { ...typeArgument, summary: "Deletes only records of this type", optional: true },
    { ...contentArgument, summary: "Deletes only the record with this data", optional: true },
  ],
  options: { all: { summary: "Deletes all records that match" }, ...serverOptions },
  examples: ["ledge dns delete example.com www A", "ledge dns delete example.com old --all"],

  async run(invocation) {
    const [zoneWord, nameWord, typeWord, ...words] = invocation.arguments as [
      string,
      string,
      ...string[],
    ];
    const type = typeWord === undefined ? undefined : storedType(parseType(typeWord));
    await withDns(invocation, async ({ api }) => {
      const zone = await findZone(api, zoneWord);
      const name = expandName(nameWord, zone.name);
      const named = await api.records(zone.id, { name });
      const ofType = named.filter((record) => type === undefined || record.type === type);
      const matching =
        type === undefined || words.length === 0
          ? ofType
          : ofType.filter(contentMatcher({ type, words, zoneName: zone.name }));
      if (matching.length === 0) throw await recordNotFound(api, zone, { name, named });
      if (matching.length > 1 && invocation.options["all"] !== true) {
        throw new UserError(
          `${counted(matching.length, "record")} match: choose one by TYPE and CONTENT, or use --all.\n` +
            recordsText(matching),
        );
      }
      for (let start = 0; start < matching.length; start += deletesPerBatch) {
        const part = matching.slice(start, start + deletesPerBatch);
        await api.batch(zone.id, { deletes: part.map(({ id }) => ({ id })) });
      }
      print(invocation, { deleted: matching }, `Deleted\n${recordsText(matching)}`);
    });
  },
};

async function recordNotFound(
  api: ApiClient,
  zone: ApiZone,
  { name, named }: { name: string; named: readonly ApiRecord[] },
): Promise<NotFoundError> {
  if (named.length > 0) {
    return new NotFoundError(`No record matches. ${name} has\n${recordsText(named)}`);
  }
  const others = new Set((await api.records(zone.id, {})).map((record) => record.name));
  const guess = nearest(name, others);
  return new NotFoundError(
    `${zone.name} has no record named ${name}.` + (guess === null ? "" : ` Did you mean ${guess}?`),
  );
}
