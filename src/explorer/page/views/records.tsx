/** The records of a zone. */
import { useEffect, useState } from "preact/hooks";
import type { DnsZone } from "../../api/zones-api.ts";
import type { Place } from "../location.ts";
import { Link } from "../parts/link.tsx";
import { Empty, Loading } from "../parts/states.tsx";
import { useNotices } from "../state/notices.ts";
import { useFetched } from "../state/use-fetched.ts";
import { useNavigation } from "../state/use-place.ts";
import { callDns, DnsRefusal, dnsPath } from "../zones/dns-calls.ts";
import { DnsProblemState } from "../zones/dns-state.tsx";
import { DeleteZoneDialog } from "../zones/zone-dialogs.tsx";
import { ZoneRecords } from "../zones/zone-records.tsx";
import "../styles/zones.css";

type RecordsPlace = Extract<Place, { view: "records" }>;

/** A call of the record API has the id of its zone, and leads here. No zone has such a name. */
const idPattern = /^[0-9a-f]{32}$/;

/** @returns `null` when there is no such zone */
async function findZone(name: string, signal: AbortSignal): Promise<DnsZone | null> {
  if (idPattern.test(name)) return findById(name, signal);
  const query = { name: `equal:${name}` };
  const { result } = await callDns<DnsZone[]>(dnsPath("zones"), { query, signal });
  return result[0] ?? null;
}

async function findById(id: string, signal: AbortSignal): Promise<DnsZone | null> {
  try {
    return (await callDns<DnsZone>(dnsPath("zones", id), { signal })).result;
  } catch (error) {
    if (error instanceof DnsRefusal) return null;
    throw error;
  }
}

export function RecordsView({ place }: { readonly place: RecordsPlace }) {
  const { go } = useNavigation();
  const notices = useNotices();
  const [isDeleting, setDeleting] = useState(false);
  const {
    data: zone,
    problem,
    reload,
  } = useFetched((signal) => findZone(place.zone, signal), `zone ${place.zone}`);
  // The address has the name, which a person can read and share.
  const name = zone?.name ?? place.zone;
  useEffect(() => {
    if (name !== place.zone) go({ ...place, zone: name }, true);
  }, [name, place.zone]);
  return (
    <>
      <div class="toolbar">
        <nav aria-label="Path" class="grow zone-path">
          <Link to={{ view: "zones" }}>Zones</Link>
          <span aria-hidden="true">/</span>
          <h1>
            <bdi>{place.zone}</bdi>
          </h1>
        </nav>
        {zone !== undefined && zone !== null && (
          <button type="button" class="button quiet" onClick={() => setDeleting(true)}>
            Delete zone
          </button>
        )}
      </div>
      {problem !== undefined ? (
        <DnsProblemState problem={problem} onRetry={reload} />
      ) : zone === undefined ? (
        <Loading what={`the zone ${place.zone}`} />
      ) : zone === null ? (
        <Empty title={`There is no zone ${place.zone}`}>
          <p>It may have been deleted, or the address has a mistake.</p>
          <Link to={{ view: "zones" }}>Show all zones</Link>
        </Empty>
      ) : (
        <ZoneRecords key={zone.id} zone={zone} place={place} />
      )}
      {isDeleting && zone && (
        <DeleteZoneDialog
          zone={zone}
          onClose={() => setDeleting(false)}
          onDeleted={() => {
            notices.show(`The zone ${zone.name} was deleted.`);
            go({ view: "zones" });
          }}
        />
      )}
    </>
  );
}
