/** `ledge dns`: the zones of a project. */
import type { LeafCommand } from "../command.ts";
import { add } from "./add.ts";
import { deleteRecords } from "./delete.ts";
import { dig } from "./dig.ts";
import { dnssec } from "./dnssec.ts";
import { exportRecords } from "./export.ts";
import { importRecords } from "./import.ts";
import { listRecords } from "./list.ts";
import { runClient } from "./run-client.ts";
import { set } from "./set.ts";
import { trust } from "./trust.ts";
import { zones } from "./zones.ts";

export const dnsCommands: readonly LeafCommand[] = [
  zones,
  listRecords,
  add,
  set,
  deleteRecords,
  importRecords,
  exportRecords,
  dnssec,
  dig,
  trust,
  runClient,
];
