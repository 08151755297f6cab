/** `ledge dns set` */
import type { ApiClient, ApiRecord, ApiZone } from "../../dns/client/api-client.ts";
import type { LeafCommand } from "../command.ts";
import { print } from "../output.ts";
import { recordArguments, recordOptions, serverOptions } from "./parameters.ts";
import type { RecordWords } from "./record-fields.ts";

export const set: LeafCommand = {
  name: "set",
  summary: "Adds a record, or replaces the records of its name and type",
  details: "A replaced record keeps its TTL, proxied, comment and tags where no option is given.",
  arguments: recordArguments,
  options: { ...recordOptions, ...serverOptions },
  examples: ["ledge dns set example.com home A 192.0.2.7 --ttl 60"],

  async run(invocation) {
    const { findZone, readRecord, recordText, withDns } = await import("./library.ts");
    const words = readRecord(invocation);
    await withDns(invocation, async ({ api }) => {
      const change = await setRecord(api, await findZone(api, words.zone), words);
      const { action, record, replaced } = change;
      const lines = [`${verbs[action]} ${recordText(record)}`];
      if (action === "replaced") lines.push(...replaced.map((old) => `  was ${recordText(old)}`));
      print(invocation, change, lines.join("\n"));
    });
  },
};

interface RecordChange {
  readonly action: "created" | "replaced" | "unchanged";
  readonly record: ApiRecord;
  /** The records before the change, including the earlier state of `record`. */
  readonly replaced: readonly ApiRecord[];
}

const verbs = { created: "Added", replaced: "Replaced", unchanged: "Unchanged:" };

async function setRecord(
  api: ApiClient,
  zone: ApiZone,
  { name, type, fieldsIn }: RecordWords,
): Promise<RecordChange> {
  const { expandName, storedType } = await import("./library.ts");
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
  const isSame = others.length === 0 && record.modified_on === first.modified_on;
  return { action: isSame ? "unchanged" : "replaced", record, replaced: isSame ? [] : existing };
}
