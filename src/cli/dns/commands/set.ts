import { isTextKind } from "../../../dns/rules/accept-record.ts";
import { expandName } from "../../../dns/record/record-name.ts";
import type { Invocation } from "../../command.ts";
import type { ApiClient, ApiRecord, ApiZone } from "../../../dns/client/api-client.ts";
import { print } from "../output.ts";
import { recordFields, recordWords, type RecordWords } from "../record-request.ts";
import { recordText } from "../record-text.ts";
import { withDns } from "../dns-session.ts";
import { findZone } from "../zone.ts";

interface Outcome {
  readonly action: "created" | "replaced" | "unchanged";
  readonly record: ApiRecord;
  /** What it replaced, the record itself as it was included. */
  readonly replaced: readonly ApiRecord[];
}

const verbs = { created: "Added", replaced: "Replaced", unchanged: "Unchanged:" };

export function setRecord(invocation: Invocation): Promise<void> {
  const words = recordWords(invocation);
  recordFields(invocation, words, "");
  return withDns(invocation, async ({ api }) => {
    const zone = await findZone(api, words.zone);
    const fields = recordFields(invocation, words, zone.name);
    const outcome = await setTo(api, zone, words, fields);
    const { action, record, replaced } = outcome;
    const lines = [`${verbs[action]} ${recordText(record)}`];
    if (action === "replaced") lines.push(...replaced.map((old) => `  was ${recordText(old)}`));
    print(invocation, outcome, lines.join("\n"));
  });
}

async function setTo(
  api: ApiClient,
  zone: ApiZone,
  { name, type }: RecordWords,
  fields: Readonly<Record<string, unknown>>,
): Promise<Outcome> {
  const there = await api.records(zone.id, {
    name: expandName(name, zone.name),
    type: isTextKind(type) ? "TXT" : type,
  });
  const [first, ...others] = there;
  if (first === undefined) {
    const record = await api.createRecord(zone.id, { name, type, ...fields });
    return { action: "created", record, replaced: [] };
  }
  // In one step: nobody who asks meanwhile finds none, or both.
  const { patches } = await api.batch(zone.id, {
    deletes: others.map(({ id }) => ({ id })),
    patches: [{ id: first.id, ...fields }],
  });
  const record = patches[0] as ApiRecord;
  const isSame = others.length === 0 && record.modified_on === first.modified_on;
  return { action: isSame ? "unchanged" : "replaced", record, replaced: isSame ? [] : there };
}
