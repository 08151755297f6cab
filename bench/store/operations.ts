/** The operations, by the name that a task uses. */
import {
  deletion,
  head,
  list,
  putIfDiffering,
  putIfMatching,
  read,
  write,
} from "./object-operations.ts";
import type { Operation } from "./operation.ts";
import {
  multipart,
  rangedGet,
  streamGet,
  streamGetSmallReads,
  streamPut,
} from "./stream-operations.ts";

export const operations: Record<string, Operation> = {
  put: write,
  get: read,
  head,
  putIfMatching,
  putIfDiffering,
  delete: deletion(1),
  delete1000: deletion(1000),
  list,
  multipart,
  streamPut,
  streamGet,
  streamGetSmallReads,
  rangedGet,
};
