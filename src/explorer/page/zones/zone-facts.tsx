/** The zone itself: its serial, its name servers, and DNSSEC. */
import { useState } from "preact/hooks";
import type { LookupAnswer, DnssecInfo, DnsZone } from "../../api/zones-api.ts";
import { callApi } from "../api-client.ts";
import { useNotices } from "../state/notices.ts";
import { useFetched } from "../state/use-fetched.ts";
import { callDns, dnsPath } from "./dns-calls.ts";

/** @param version changes when a record has changed, which changes the serial */
export function ZoneFacts({ zone, version }: { readonly zone: DnsZone; readonly version: number }) {
  return (
    <dl class="zone-facts">
      <div>
        <dt>Serial</dt>
        <dd class="code">
          <Serial zone={zone} version={version} />
        </dd>
      </div>
      <div>
        <dt>Name servers</dt>
        <dd class="code">{zone.name_servers.join(", ")}</dd>
      </div>
      <div>
        <dt>Status</dt>
        <dd>
          <span class={`badge ${zone.paused ? "warning" : "good"}`}>
            {zone.paused ? "paused" : zone.status}
          </span>
        </dd>
      </div>
      <Dnssec zone={zone} />
    </dl>
  );
}

function Serial({ zone, version }: { readonly zone: DnsZone; readonly version: number }) {
  const { data, problem } = useFetched(async (signal) => {
    const query = { name: zone.name, type: "SOA" };
    const { answers } = await callApi<LookupAnswer>("/api/lookup", { query, signal });
    const soa = answers.find(({ type }) => type === "SOA");
    // RFC 1035 section 3.3.13: the third word.
    return soa?.data.split(" ")[2] ?? "not served";
  }, `serial ${zone.id} ${version}`);
  if (problem !== undefined) return <span title={problem.message}>unknown: no answer</span>;
  return <>{data ?? "…"}</>;
}

function Dnssec({ zone }: { readonly zone: DnsZone }) {
  const notices = useNotices();
  const [isBusy, setBusy] = useState(false);
  const path = dnsPath("zones", zone.id, "dnssec");
  const { data, problem, reload } = useFetched(
    async (signal) => (await callDns<DnssecInfo>(path, { signal })).result,
    `dnssec ${zone.id}`,
  );
  const isOn = data !== undefined && data.status !== "disabled";
  const change = async (): Promise<void> => {
    setBusy(true);
    try {
      const json = { status: isOn ? "disabled" : "active" };
      await callDns(path, { method: "PATCH", json });
      notices.show(`DNSSEC of ${zone.name} is ${isOn ? "off" : "on"}.`);
    } catch (error) {
      notices.show((error as Error).message, { tone: "problem" });
    } finally {
      setBusy(false);
      reload();
    }
  };
  const copy = async (text: string): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      notices.show("The DS record is in the clipboard.");
    } catch {
      notices.show("The browser did not allow the copy. Select the DS record and copy it.", {
        tone: "problem",
      });
    }
  };
  return (
    <div>
      <dt>DNSSEC</dt>
      <dd class="zone-dnssec">
        {problem !== undefined ? (
          <span class="field-problem">{problem.message}</span>
        ) : data === undefined ? (
          "…"
        ) : (
          <>
            <span class={`badge ${badgeOf(data.status)}`}>{data.status}</span>
            <button type="button" class="button" disabled={isBusy} onClick={() => void change()}>
              {isBusy ? "Changing…" : isOn ? "Turn off" : "Turn on"}
            </button>
            {isOn && data.ds !== null && (
              <>
                <code class="zone-ds">{data.ds}</code>
                <button type="button" class="button" onClick={() => void copy(data.ds as string)}>
                  Copy DS
                </button>
              </>
            )}
          </>
        )}
      </dd>
    </div>
  );
}

function badgeOf(status: DnssecInfo["status"]): string {
  if (status === "active") return "good";
  return status === "pending" ? "warning" : "";
}
