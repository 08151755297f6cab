/** The zones of the project, with the dialog for another zone. */
import { useState } from "preact/hooks";
import type { DnsZone } from "../../api/zones-api.ts";
import { useFetched } from "../frame/events.ts";
import { FormDialog, TextField } from "../frame/form.tsx";
import { countedNoun, formatCount } from "../frame/format.ts";
import { Icon } from "../frame/icon.tsx";
import { Link, useNavigation } from "../frame/navigation.tsx";
import { useNotices } from "../frame/notices.tsx";
import { PageHeader } from "../frame/page-header.tsx";
import { Empty, Loading } from "../frame/parts.tsx";
import { useShortcuts } from "../frame/shortcuts.tsx";
import { Table, type Column } from "../frame/table.tsx";
import { recordsPlace } from "../location.ts";
import { callDns, DnsProblem, fetchZones, ZonesExample } from "./zone-parts.tsx";

/** Each zone needs a call for its count: further zones have none. */
const countedZonesMax = 50;

interface CountedZone extends DnsZone {
  readonly records: number | null;
}

async function fetchCountedZones(signal: AbortSignal): Promise<readonly CountedZone[]> {
  const countRecords = async (zone: string): Promise<number> => {
    const path = `zones/${zone}/dns_records/usage`;
    return (await callDns<{ record_usage: number }>(path, { signal })).result.record_usage;
  };
  return Promise.all(
    (await fetchZones(signal)).map(async (zone, index) => ({
      ...zone,
      // A zone may have been deleted in between.
      records: index < countedZonesMax ? await countRecords(zone.id).catch(() => null) : null,
    })),
  );
}

const columns: readonly Column<CountedZone>[] = [
  {
    label: "Zone",
    isRowHeader: true,
    show: ({ name }) => (
      <Link to={recordsPlace(name)}>
        <bdi>{name}</bdi>
      </Link>
    ),
  },
  {
    label: "Records",
    class: "number",
    show: ({ records }) => (records === null ? "" : formatCount(records)),
  },
  {
    label: "Name servers",
    class: "narrow-hidden",
    show: ({ name_servers: servers }) => <span class="code">{servers.join(", ")}</span>,
  },
  {
    label: "Status",
    show: ({ paused, status }) => (
      <span class={`badge ${paused ? "warning" : "good"}`}>{paused ? "paused" : status}</span>
    ),
  },
];

export function ZonesView() {
  const [isCreating, setCreating] = useState(false);
  const { data, problem, isLoading, reload } = useFetched(
    fetchCountedZones,
    "zones",
    ({ topic }) => topic === "zones" || topic === "records",
  );
  useShortcuts({ n: { label: "New zone", act: () => setCreating(true) } });
  return (
    <>
      <PageHeader
        title="Zones"
        counts={data && countedNoun(data.length, "zone")}
        onReload={reload}
        isLoading={isLoading}
      >
        <button type="button" class="button primary" onClick={() => setCreating(true)}>
          <Icon name="new" />
          New zone
        </button>
      </PageHeader>
      {problem !== undefined ? (
        <DnsProblem problem={problem} onRetry={reload} />
      ) : data === undefined ? (
        <Loading what="the zones" />
      ) : data.length === 0 ? (
        <Empty title="No zones yet">
          <p>A zone is a domain whose records this machine serves. Create a zone, or declare it:</p>
          <ZonesExample />
        </Empty>
      ) : (
        <div class="panel">
          <Table noun="zone" columns={columns} rows={data} idOf={({ id }) => id} />
        </div>
      )}
      {isCreating && <CreateZoneDialog onClose={() => setCreating(false)} />}
    </>
  );
}

function CreateZoneDialog({ onClose }: { readonly onClose: () => void }) {
  const { go } = useNavigation();
  const notices = useNotices();
  const [name, setName] = useState("");
  return (
    <FormDialog
      title="New zone"
      action="Create zone"
      isDisabled={name.trim() === ""}
      onClose={onClose}
      onSubmit={async () => {
        const json = { name: name.trim() };
        const { result } = await callDns<DnsZone>("zones", { method: "POST", json });
        notices.show(`The zone ${result.name} was created.`);
        go(recordsPlace(result.name));
      }}
    >
      <TextField
        label="Name"
        hint="A domain name such as example.com. The zone exists on this machine only."
        value={name}
        onValue={setName}
      />
    </FormDialog>
  );
}
