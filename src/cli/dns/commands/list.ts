import { expandName } from "../../../dns/record/record-name.ts";
import { isTextKind } from "../../../dns/rules/accept-record.ts";
import type { Invocation } from "../../command.ts";
import { parseType } from "../content.ts";
import { print, textOption } from "../output.ts";
import { recordsText } from "../record-text.ts";
import { withDns } from "../dns-session.ts";
import { findZone } from "../zone.ts";

export function listRecords(invocation: Invocation): Promise<void> {
  const [word] = invocation.arguments as [string];
  const given = textOption(invocation, "type");
  const type = given === undefined ? undefined : parseType(given);
  const name = textOption(invocation, "name");
  return withDns(invocation, async ({ api }) => {
    const zone = await findZone(api, word);
    const records = await api.records(zone.id, {
      ...(type !== undefined && { type: isTextKind(type) ? "TXT" : type }),
      ...(name !== undefined && { name: expandName(name, zone.name) }),
    });
    if (invocation.options["json"] === true) {
      for (const record of records) print(invocation, record, "");
    } else {
      print(invocation, null, recordsText(records));
    }
  });
}
