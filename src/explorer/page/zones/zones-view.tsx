/** The zones of the project. */
import { useState } from "preact/hooks";
import type { DnsZone } from "../../api/zones-api.ts";
import { useFetched } from "../frame/events.ts";
import { countedNoun, formatCount } from "../frame/format.ts";
import { Link, useNavigation } from "../frame/navigation.tsx";
import { useNotices } from "../frame/notices.tsx";
import { PageHeader } from "../frame/page-header.tsx";
import { Empty, Loading } from "../frame/parts.tsx";
import { useShortcuts } from "../frame/shortcuts.tsx";
import type { Place } from "../location.ts";
import { CreateZoneDialog } from "./zone-dialogs.tsx";
import { callDns, DnsProblemState, ZonesExample } from "./zone-parts.tsx";

/** As many as the record API lists at once. */
const zonesMax = 1000;
/** Each zone needs a call for its count: further zones have none. */
const countedZonesMax = 50;

async function fetchZones(signal: AbortSignal) {
  const query = { per_page: zonesMax, order: "name" };
  const { result } = await callDns<DnsZone[]>(["zones"], { query, signal });
  return Promise.all(
    result.map(async (zone, index) => ({
      ...zone,
      records: index < countedZonesMax ? await countRecords(zone.id, signal) : null,
    })),
  );
}

/** `null` when the zone was deleted in between. */
async function countRecords(zoneId: string, signal: AbortSignal): Promise<number | null> {
  try {
    const path = ["zones", zoneId, "dns_records", "usage"];
    return (await callDns<{ record_usage: number }>(path, { signal })).result.record_usage;
  } catch {
    return null;
  }
}

export function ZonesView() {
  const [isCreating, setCreating] = useState(false);
  const { go } = useNavigation();
  const notices = useNotices();
  const { data, problem, isLoading, reload } = useFetched(
    fetchZones,
    "zones",
    ({ topic }) => topic === "zones" || topic === "records",
  );
  useShortcuts({ n: { label: "New zone", act: () => setCreating(true) } });
  return (
    <>
      <PageHeader
        title="Zones"
        {...(data !== undefined && { counts: countedNoun(data.length, "zone") })}
        onReload={reload}
        isLoading={isLoading}
      >
        <button
          type="button"
          class="button primary"
          disabled={data === undefined}
          onClick={() => setCreating(true)}
        >
          New zone
        </button>
      </PageHeader>
      {problem !== undefined ? (
        <DnsProblemState problem={problem} onRetry={reload} />
      ) : data === undefined ? (
        <Loading what="the zones" />
      ) : data.length === 0 ? (
        <Empty title="No zones yet">
          <p>A zone is a domain whose records this machine serves. Create a zone, or declare it:</p>
          <ZonesExample />
        </Empty>
      ) : (
        <div class="panel">
          <table class="table zone-list">
            <thead>
              <tr>
                {["Zone", "Records", "Name servers", "Status"].map((label) => (
                  <th key={label} scope="col" class={label === "Records" ? "number" : ""}>
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {data.map((zone) => (
                <tr key={zone.id}>
                  <td>
                    <Link to={recordsPlace(zone)}>
                      <bdi>{zone.name}</bdi>
                    </Link>
                  </td>
                  <td class="number" data-unit={zone.records === 1 ? " record" : " records"}>
                    {zone.records === null ? "" : formatCount(zone.records)}
                  </td>
                  <td class="zone-servers code">{zone.name_servers.join(", ")}</td>
                  <td>
                    <span class={`badge ${zone.paused ? "warning" : "good"}`}>
                      {zone.paused ? "paused" : zone.status}
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {isCreating && (
        <CreateZoneDialog
          onClose={() => setCreating(false)}
          onCreated={(zone) => {
            notices.show(`The zone ${zone.name} was created.`);
            go(recordsPlace(zone));
          }}
        />
      )}
    </>
  );
}

function recordsPlace({ name }: DnsZone): Place {
  return { view: "records", zone: name, search: "", record: null };
}
