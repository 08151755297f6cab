/** The zones of the project. */
import { useState } from "preact/hooks";
import type { DnsZone } from "../../api/zones-api.ts";
import { Link } from "../parts/link.tsx";
import { useShortcuts } from "../parts/shortcuts.tsx";
import { Empty, Loading } from "../parts/states.tsx";
import { useNotices } from "../state/notices.ts";
import { useFetched } from "../state/use-fetched.ts";
import { useNavigation } from "../state/use-place.ts";
import { callDns, dnsPath } from "../zones/dns-calls.ts";
import { DnsProblemState } from "../zones/dns-state.tsx";
import { formatCount, Pager } from "../zones/pager.tsx";
import { CreateZoneDialog, DeleteZoneDialog } from "../zones/zone-dialogs.tsx";
import "../styles/zones.css";

/** Each zone needs a call for its count. */
const zonesPerPage = 50;

interface ZoneList {
  readonly zones: readonly (DnsZone & { readonly records: number | null })[];
  readonly total: number;
  readonly pages: number;
}

async function fetchZones(page: number, signal: AbortSignal): Promise<ZoneList> {
  const query = { per_page: zonesPerPage, page, order: "name" };
  const list = await callDns<DnsZone[]>(dnsPath("zones"), { query, signal });
  const zones = await Promise.all(
    list.result.map(async (zone) => ({ ...zone, records: await countRecords(zone.id, signal) })),
  );
  const { total_count: total = zones.length, total_pages: pages = 1 } = list.result_info ?? {};
  return { zones, total, pages };
}

/** `null` when the zone was deleted in between. */
async function countRecords(zoneId: string, signal: AbortSignal): Promise<number | null> {
  try {
    const path = dnsPath("zones", zoneId, "dns_records", "usage");
    return (await callDns<{ record_usage: number }>(path, { signal })).result.record_usage;
  } catch {
    return null;
  }
}

export function ZonesView() {
  const [page, setPage] = useState(1);
  const [isCreating, setCreating] = useState(false);
  const [deleted, setDeleted] = useState<DnsZone | null>(null);
  const { go } = useNavigation();
  const notices = useNotices();
  const { data, problem, reload } = useFetched(
    (signal) => fetchZones(page, signal),
    `zones ${page}`,
  );
  useShortcuts({ n: { label: "New zone", act: () => setCreating(true) } });
  return (
    <>
      <div class="toolbar">
        <h1 class="grow">Zones</h1>
        <button
          type="button"
          class="button primary"
          disabled={data === undefined}
          onClick={() => setCreating(true)}
        >
          New zone
        </button>
      </div>
      {problem !== undefined ? (
        <DnsProblemState problem={problem} onRetry={reload} />
      ) : data === undefined ? (
        <Loading what="the zones" />
      ) : data.total === 0 ? (
        <Empty title="No zones yet">
          <p>A zone is a domain whose records this machine serves. Create a zone, or declare it:</p>
          <pre class="panel zones-example">{`[dns]\nzones = [{ name = "example.com" }]`}</pre>
          <button type="button" class="button primary" onClick={() => setCreating(true)}>
            Create a zone
          </button>
        </Empty>
      ) : (
        <>
          <ZoneTable zones={data.zones} onDelete={setDeleted} />
          <Pager
            label={data.total === 1 ? "zone" : "zones"}
            page={page}
            pages={data.pages}
            perPage={zonesPerPage}
            total={data.total}
            onPage={setPage}
          />
        </>
      )}
      {isCreating && (
        <CreateZoneDialog
          onClose={() => setCreating(false)}
          onCreated={(zone) => {
            notices.show(`The zone ${zone.name} was created.`);
            go({ view: "records", zone: zone.name, search: "", record: null });
          }}
        />
      )}
      {deleted !== null && (
        <DeleteZoneDialog
          zone={deleted}
          onClose={() => setDeleted(null)}
          onDeleted={() => {
            notices.show(`The zone ${deleted.name} was deleted.`);
            setDeleted(null);
            reload();
          }}
        />
      )}
    </>
  );
}

function ZoneTable({
  zones,
  onDelete,
}: {
  readonly zones: ZoneList["zones"];
  readonly onDelete: (zone: DnsZone) => void;
}) {
  return (
    <div class="panel">
      <table class="table zone-list">
        <thead>
          <tr>
            <th scope="col">Zone</th>
            <th scope="col" class="number">
              Records
            </th>
            <th scope="col">Name servers</th>
            <th scope="col">Status</th>
            <th scope="col">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {zones.map((zone) => (
            <tr key={zone.id}>
              <td>
                <Link to={{ view: "records", zone: zone.name, search: "", record: null }}>
                  <bdi>{zone.name}</bdi>
                </Link>
              </td>
              <td class="number" data-unit={zone.records === 1 ? " record" : " records"}>
                {zone.records === null ? "–" : formatCount(zone.records)}
              </td>
              <td class="zone-servers">
                <span class="code">{zone.name_servers.join(", ")}</span>
              </td>
              <td>
                <span class={`badge ${zone.paused ? "warning" : "good"}`}>
                  {zone.paused ? "paused" : zone.status}
                </span>
              </td>
              <td class="zone-actions">
                <button
                  type="button"
                  class="button quiet"
                  aria-label={`Delete ${zone.name}`}
                  onClick={() => onDelete(zone)}
                >
                  Delete
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
