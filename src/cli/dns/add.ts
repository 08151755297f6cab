/** `ledge dns add` */
import type { LeafCommand } from "../command.ts";
import { print } from "../output.ts";
import { serverOptions, withDns } from "./dns-session.ts";
import { findZone } from "./find-zone.ts";
import { readRecord, recordArguments, recordOptions } from "./record-parameters.ts";
import { recordText } from "./record-text.ts";

export const add: LeafCommand = {
  name: "add",
  summary: "Adds a record",
  details:
    "Host names in CONTENT are full names; a host name without a dot is a name in the zone.\n" +
    'CONTENT that starts with a hyphen must follow "--", which ends the options.',
  arguments: recordArguments,
  options: { ...recordOptions, ...serverOptions },
  examples: [
    "ledge dns add example.com www A 192.0.2.1 --proxied",
    "ledge dns add example.com @ MX 10 mail.example.com --ttl 3600",
    'ledge dns add example.com @ TXT "v=spf1 -all"',
    "ledge dns add example.com _sip._tcp SRV 10 5 5060 sip.example.com",
  ],

  async run(invocation) {
    const { zone: word, name, type, fieldsIn } = readRecord(invocation);
    await withDns(invocation, async ({ api }) => {
      const zone = await findZone(api, word);
      const record = await api.createRecord(zone.id, { name, type, ...fieldsIn(zone.name) });
      print(invocation, record, `Added ${recordText(record)}`);
    });
  },
};
