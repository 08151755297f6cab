/** The zone itself: its serial, its name servers, and DNSSEC. */
import { useState } from "preact/hooks";
import type { DnssecInfo, DnsZone, LookupAnswer } from "../../api/zones-api.ts";
import { callApi } from "../api-client.ts";
import { useFetched } from "../frame/events.ts";
import { useNotices } from "../frame/notices.tsx";
import { callDns } from "./zone-parts.tsx";

/** As the name server answers; without an answer, the reason. */
async function fetchSerial(zone: DnsZone, signal: AbortSignal): Promise<string> {
  try {
    const query = { name: zone.name, type: "SOA", transport: "https" };
    const { answers } = await callApi<LookupAnswer>("/api/lookup", { query, signal });
    // RFC 1035 section 3.3.13: the third word.
    return answers.find(({ type }) => type === "SOA")?.data.split(" ")[2] ?? "not served";
  } catch (error) {
    signal.throwIfAborted();
    return (error as Error).message;
  }
}

const badges = { active: "good", pending: "warning", disabled: "" } as const;

export function ZoneFacts({ zone }: { readonly zone: DnsZone }) {
  const notices = useNotices();
  const [isBusy, setBusy] = useState(false);
  const path = ["zones", zone.id, "dnssec"];
  const { data, problem, reload } = useFetched(
    async (signal) => ({
      serial: await fetchSerial(zone, signal),
      ...(await callDns<DnssecInfo>(path, { signal })).result,
    }),
    `facts ${zone.id}`,
    (change) => change.topic === "zones" || (change.topic === "records" && change.zone === zone.id),
  );
  if (problem !== undefined) return <p class="field-problem">{problem.message}</p>;
  const isOn = data !== undefined && data.status !== "disabled";
  const change = (): void => {
    setBusy(true);
    callDns(path, { method: "PATCH", json: { status: isOn ? "disabled" : "active" } })
      .catch((error: Error) => notices.show(error.message, { tone: "problem" }))
      .finally(() => {
        setBusy(false);
        reload();
      });
  };
  return (
    <dl class="zone-facts">
      <div>
        <dt>Serial</dt>
        <dd class="code">{data?.serial ?? "…"}</dd>
      </div>
      <div>
        <dt>Name servers</dt>
        <dd class="code">{zone.name_servers.join(", ")}</dd>
      </div>
      <div>
        <dt>DNSSEC</dt>
        {data !== undefined && (
          <dd class="toolbar">
            <span class={`badge ${badges[data.status]}`}>{data.status}</span>
            <button type="button" class="button" disabled={isBusy} onClick={change}>
              {isOn ? "Turn off" : "Turn on"}
            </button>
            {isOn && data.ds !== null && <code class="zone-ds">{data.ds}</code>}
          </dd>
        )}
      </div>
    </dl>
  );
}
