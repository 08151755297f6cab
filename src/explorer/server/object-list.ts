/**
 * A page of a bucket, by one list operation. The HTTP metadata are included for the types of the
 * contents: a page of 1,000 objects took 18 ms with them and 9 ms without, which a person does not
 * notice. A page with metadata has at most 256 KiB, so it can have fewer objects than its limit.
 */
import { decodeCursor } from "../../store/core/list-page.ts";
import { StoreError } from "../../store/core/errors.ts";
import { listLimitMax } from "../../store/core/limits.ts";
import { decodeObjects } from "../../store/core/object.ts";
import type { ListRequest } from "../../store/core/operations.ts";
import type { ObjectPage } from "../api/buckets.ts";
import { requireBucket, listedObject } from "./bucket-access.ts";
import { CallError, json, type ExplorerResponse } from "./call.ts";
import { type ExplorerCall } from "./context.ts";

export async function listObjects(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const request = readListRequest(call.query);
  const { objectsJson, prefixes, cursor } = await bucket.call({ method: "list", ...request });
  return json({
    objects: decodeObjects(objectsJson, { http: true, custom: false }).map(listedObject),
    folders: prefixes,
    cursor: cursor ?? null,
  } satisfies ObjectPage);
}

/** @throws CallError */
function readListRequest(query: URLSearchParams): ListRequest {
  const after = query.get("after") ?? "";
  const cursor = query.get("cursor") ?? "";
  if (cursor !== "") checkCursor(cursor);
  return {
    prefix: query.get("prefix") ?? "",
    delimiter: query.get("delimiter") ?? "",
    limit: readLimit(query.get("limit")),
    ...(after !== "" && { startAfter: after }),
    ...(cursor !== "" && { cursor }),
    includeHttp: true,
    includeCustom: false,
  };
}

function readLimit(text: string | null): number {
  if (text === null) return listLimitMax;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= listLimitMax) return limit;
  throw new CallError(
    400,
    `"limit" must be a whole number from 1 to ${listLimitMax}, not "${text}".`,
    10022,
  );
}

/** The bucket would call a wrong cursor an internal error. */
function checkCursor(cursor: string): void {
  try {
    decodeCursor(cursor);
  } catch (error) {
    if (error instanceof StoreError) throw new CallError(400, error.message);
    throw error;
  }
}
