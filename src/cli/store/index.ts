/** `ledge store`: the buckets of a project. */
import type { LeafCommand } from "../command.ts";
import { buckets } from "./buckets.ts";
import { check } from "./check.ts";
import { collectGarbage } from "./collect-garbage.ts";
import { copy } from "./copy.ts";
import { deleteObjects } from "./delete.ts";
import { exportObjects } from "./export.ts";
import { get } from "./get.ts";
import { head } from "./head.ts";
import { importObjects } from "./import.ts";
import { listObjects } from "./list.ts";
import { presign } from "./presign.ts";
import { put } from "./put.ts";
import { reset } from "./reset.ts";
import { stats } from "./stats.ts";

export const storeCommands: readonly LeafCommand[] = [
  buckets,
  listObjects,
  head,
  get,
  put,
  deleteObjects,
  copy,
  presign,
  importObjects,
  exportObjects,
  stats,
  check,
  collectGarbage,
  reset,
];
