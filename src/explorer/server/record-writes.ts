/**
 * Records as people write and delete them. The record API has `data` for most types: here, every
 * type has its content as a zone file has it.
 */
import { contentRequest, typeNames } from "../../dns/record/presentation.ts";
import { recordTypes } from "../../dns/record/types.ts";
import { ttlSecondsMax, ttlSecondsMin } from "../../dns/record/zone-record.ts";
import type { DeleteRecordsTask } from "../api/tasks.ts";
import { unmodifiedHeader, type DnsEnvelope, type RecordTypes } from "../api/zones-api.ts";
import { CallError, readJson, type ExplorerResponse } from "./call.ts";
import type { DnsAccess } from "./dns-follower.ts";
import { fetchRecordApi, passOn, requireDns, type DnsCall } from "./record-api-forward.ts";
import type { TaskProgress } from "./task-progress.ts";

/** What people can write: without the types that belong to the zone itself. */
export function describeRecordTypes(): RecordTypes {
  const types = [...recordTypes.values()].filter(({ managedBy }) => managedBy === null);
  return {
    types: types.map(({ type, example, topLevelPriority, proxiable }) => ({
      type,
      example,
      hasPriority: topLevelPriority,
      isProxiable: proxiable,
    })),
    lookupTypes: typeNames,
    ttlSecondsMin,
    ttlSecondsMax,
  };
}

export async function createRecord(call: DnsCall): Promise<ExplorerResponse> {
  return passOn(await write(call, "POST", `zones/${segment(call, "zone")}/dns_records`));
}

export async function changeRecord(call: DnsCall): Promise<ExplorerResponse> {
  const path = `zones/${segment(call, "zone")}/dns_records/${segment(call, "record")}`;
  const response = await write(call, "PATCH", path);
  const isConditional = call.headers[unmodifiedHeader] !== undefined;
  if (isConditional && response.status === 404) {
    throw new CallError(412, "The record was deleted after you opened it. Add a new record.");
  }
  if (response.status === 412) {
    throw new CallError(412, "The record was changed after you opened it. Nothing was saved.");
  }
  return passOn(response);
}

async function write(call: DnsCall, method: "POST" | "PATCH", path: string): Promise<Response> {
  const dns = await requireDns(call);
  const body = JSON.stringify(withData(await readJson(call)));
  const unmodified = call.headers[unmodifiedHeader];
  const headers = {
    "content-type": "application/json",
    ...(typeof unmodified === "string" && { [unmodifiedHeader]: unmodified }),
  };
  return fetchRecordApi(dns, path, { method, headers, body, signal: call.signal });
}

/**
 * A request with `content` where the record API wants `data`. What is no such request passes, and the
 * record API says what is wrong.
 *
 * @throws CallError
 */
function withData(request: unknown): unknown {
  const { type, content, data, ...rest } = (request ?? {}) as Readonly<Record<string, unknown>>;
  const known = typeof type === "string" ? recordTypes.get(type.toUpperCase()) : undefined;
  if (known === undefined || typeof content !== "string" || data !== undefined) return request;
  const parsed = contentRequest(known, content);
  if (typeof parsed === "string") throw new CallError(400, parsed);
  return { type, ...rest, ...parsed };
}

/** Another program may delete a record first: nothing is left to do then. */
export async function deleteRecords(
  dns: DnsAccess,
  { zone, records }: DeleteRecordsTask,
  progress: TaskProgress,
): Promise<void> {
  const { signal } = new AbortController();
  for (const { id, name, type } of records) {
    if (progress.isCancelled) return;
    try {
      const path = `zones/${encodeURIComponent(zone)}/dns_records/${encodeURIComponent(id)}`;
      const response = await fetchRecordApi(dns, path, { method: "DELETE", signal });
      if (response.ok || response.status === 404) progress.succeed();
      else {
        const { errors } = (await response.json()) as DnsEnvelope<unknown>;
        progress.fail(`${type} ${name}`, errors.map(({ message }) => message).join(" "));
      }
    } catch (error) {
      progress.fail(`${type} ${name}`, (error as Error).message);
    }
  }
}

function segment({ parameters }: DnsCall, name: string): string {
  return encodeURIComponent(parameters[name] as string);
}
