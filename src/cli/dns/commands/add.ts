import type { Invocation } from "../../command.ts";
import { print } from "../output.ts";
import { recordFields, recordWords } from "../record-request.ts";
import { recordText } from "../record-text.ts";
import { withDns } from "../dns-session.ts";
import { findZone } from "../zone.ts";

export function addRecord(invocation: Invocation): Promise<void> {
  const words = recordWords(invocation);
  // What is wrong with the words is said before a server is looked for.
  recordFields(invocation, words, "");
  return withDns(invocation, async ({ api }) => {
    const zone = await findZone(api, words.zone);
    const fields = recordFields(invocation, words, zone.name);
    const { name, type } = words;
    const record = await api.createRecord(zone.id, { name, type, ...fields });
    print(invocation, record, `Added ${recordText(record)}`);
  });
}
