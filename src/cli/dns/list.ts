/** `ledge dns list` */
import { expandName } from "../../dns/record/record-name.ts";
import type { LeafCommand } from "../command.ts";
import { textOption } from "../options.ts";
import { print } from "../output.ts";
import { serverOptions, withDns } from "./dns-session.ts";
import { findZone, zoneArgument } from "./find-zone.ts";
import { parseType, storedType } from "./record-content.ts";
import { recordsText } from "./record-text.ts";

export const listRecords: LeafCommand = {
  name: "list",
  summary: "Lists the records of a zone",
  details: "With --json, each record is one line.",
  arguments: [zoneArgument],
  options: {
    type: { summary: "Lists only records of this type", value: "TYPE" },
    name: { summary: "Lists only records with this name", value: "NAME" },
    ...serverOptions,
  },
  examples: ["ledge dns list example.com --type MX"],

  async run(invocation) {
    const [word] = invocation.arguments as [string];
    const typeWord = textOption(invocation, "type");
    const type = typeWord === undefined ? undefined : storedType(parseType(typeWord));
    const name = textOption(invocation, "name");
    await withDns(invocation, async ({ api }) => {
      const zone = await findZone(api, word);
      const records = await api.records(zone.id, {
        ...(type !== undefined && { type }),
        ...(name !== undefined && { name: expandName(name, zone.name) }),
      });
      if (invocation.options["json"] === true) {
        for (const record of records) print(invocation, record, "");
      } else {
        print(invocation, null, recordsText(records));
      }
    });
  },
};
