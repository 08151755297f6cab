/** Writes of records, and the deletions that wait in this page. */
import { undoMilliseconds } from "../../api/tasks.ts";
import type { DnsEnvelope, DnsRecord } from "../../api/zones-api.ts";
import { callDns, dnsPath, DnsRefusal } from "./dns-calls.ts";
import { WaitingDeletions } from "./waiting-deletions.ts";

/** Beside the views, because a deletion goes on when another view is shown. */
export const deletions = new WaitingDeletions({
  milliseconds: undoMilliseconds,
  later: (act, milliseconds) => {
    const timer = setTimeout(act, milliseconds);
    return () => clearTimeout(timer);
  },
  send: async ({ zoneId, record }, isLeaving) => {
    const path = dnsPath("zones", zoneId, "dns_records", record.id);
    try {
      await callDns(path, { method: "DELETE", keepalive: isLeaving });
    } catch (error) {
      // Another program has deleted the record: nothing is left to do.
      if (!(error instanceof DnsRefusal && error.status === 404)) throw error;
    }
  },
});

globalThis.addEventListener?.("pagehide", () => deletions.leave());

/** The record is in the way of another record: 81053 to 81058. */
function isConflict(error: unknown): boolean {
  return (
    error instanceof DnsRefusal && error.problems.some(({ code }) => code >= 81053 && code <= 81058)
  );
}

/** For the person a deleted record is gone: a write that meets the record sends its deletion first. */
export async function writeInZone<Result>(
  zoneId: string,
  write: () => Promise<DnsEnvelope<Result>>,
): Promise<DnsEnvelope<Result>> {
  try {
    return await write();
  } catch (error) {
    if (!isConflict(error) || deletions.waitingIn(zoneId) === 0) throw error;
    await deletions.sendZone(zoneId);
    return write();
  }
}

export async function patchRecord(
  zoneId: string,
  recordId: string,
  patch: Readonly<Record<string, unknown>>,
): Promise<DnsRecord> {
  const path = dnsPath("zones", zoneId, "dns_records", recordId);
  const { result } = await writeInZone(zoneId, () =>
    callDns<DnsRecord>(path, { method: "PATCH", json: patch }),
  );
  return result;
}
