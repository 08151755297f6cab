/** `ledge dns set` */
import type { ApiClient, ApiRecord, ApiZone } from "../../dns/client/api-client.ts";
import { expandName } from "../../dns/record/record-name.ts";
import type { LeafCommand } from "../command.ts";
import { print } from "../output.ts";
import { serverOptions, withDns } from "./dns-session.ts";
import { findZone } from "./find-zone.ts";
import { storedType } from "./record-content.ts";
import { readRecord, recordArguments, recordOptions } from "./record-parameters.ts";
import { recordText } from "./record-text.ts";

const verbs = { created: "Added", replaced: "Replaced", unchanged: "Unchanged:" };

export const set: LeafCommand = {
  name: "set",
  summary: "Adds a record, or replaces the records of its name and type",
  details: "A replaced record keeps its TTL, proxied, comment and tags where no option is given.",
  arguments: recordArguments,
  options: { ...recordOptions, ...serverOptions },
  examples: ["ledge dns set example.com home A 192.0.2.7 --ttl 60"],

  async run(invocation) {
    const words = readRecord(invocation);
    await withDns(invocation, async ({ api }) => {
      const change = await setRecord(api, await findZone(api, words.zone), words);
      const { action, record, replaced } = change;
      const lines = replaced.map((old) => `  was ${recordText(old)}`);
      print(invocation, change, [`${verbs[action]} ${recordText(record)}`, ...lines].join("\n"));
    });
  },
};

/** `replaced` has the records before a change, including the earlier state of `record`. */
async function setRecord(
  api: ApiClient,
  zone: ApiZone,
  { name, type, fieldsIn }: ReturnType<typeof readRecord>,
): Promise<{ action: keyof typeof verbs; record: ApiRecord; replaced: readonly ApiRecord[] }> {
  const fields = fieldsIn(zone.name);
  const existing = await api.records(zone.id, {
    name: expandName(name, zone.name),
    type: storedType(type),
  });
  const [first, ...others] = existing;
  if (first === undefined) {
    const record = await api.createRecord(zone.id, { name, type, ...fields });
    return { action: "created", record, replaced: [] };
  }
  // One batch: a query sees the old records or the new record, never none or both.
  const { patches } = await api.batch(zone.id, {
    deletes: others.map(({ id }) => ({ id })),
    patches: [{ id: first.id, ...fields }],
  });
  const record = patches[0] as ApiRecord;
  if (others.length === 0 && record.modified_on === first.modified_on) {
    return { action: "unchanged", record, replaced: [] };
  }
  return { action: "replaced", record, replaced: existing };
}
