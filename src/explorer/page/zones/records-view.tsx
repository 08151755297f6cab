/** The records of a zone: search, pages, and everything that changes records. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { DnsRecord, DnsZone } from "../../api/zones-api.ts";
import { apiUrl, type ApiCallError } from "../api-client.ts";
import { useFetched } from "../frame/events.ts";
import { countedNoun, formatCount } from "../frame/format.ts";
import { Menu } from "../frame/menu.tsx";
import { Link, useNavigation } from "../frame/navigation.tsx";
import { useNotices } from "../frame/notices.tsx";
import { PageHeader } from "../frame/page-header.tsx";
import { Empty, Loading, Problem } from "../frame/parts.tsx";
import { useShortcuts } from "../frame/shortcuts.tsx";
import { isActive } from "../frame/task-words.ts";
import { useTasks } from "../frame/tasks.tsx";
import { newRecord, RecordDialog } from "./record-dialog.tsx";
import { RecordTable, type RecordsPlace } from "./record-table.tsx";
import { DeleteZoneDialog, ImportDialog } from "./zone-dialogs.tsx";
import { ZoneFacts } from "./zone-facts.tsx";
import { callDns, DnsProblemState, dnsPath, fetchRecordTypes } from "./zone-parts.tsx";

const recordsPerPage = 100;
/** A call of the record API has the id of its zone, and leads here. No zone has such a name. */
const idPattern = /^[0-9a-f]{32}$/;

/** @returns `null` when there is no such zone */
async function findZone(name: string, signal: AbortSignal): Promise<DnsZone | null> {
  if (!idPattern.test(name)) {
    const query = { name: `equal:${name}` };
    return (await callDns<DnsZone[]>(["zones"], { query, signal })).result[0] ?? null;
  }
  try {
    return (await callDns<DnsZone>(["zones", name], { signal })).result;
  } catch (error) {
    // The record API has codes: it has refused the id.
    if ((error as ApiCallError).code !== undefined) return null;
    throw error;
  }
}

export function RecordsView({ place }: { readonly place: RecordsPlace }) {
  const { go } = useNavigation();
  const zone = useFetched(
    (signal) => findZone(place.zone, signal),
    `zone ${place.zone}`,
    ({ topic }) => topic === "zones",
  );
  // The address has the name, which a person can read and share.
  const name = zone.data?.name ?? place.zone;
  useEffect(() => {
    if (name !== place.zone) go({ ...place, zone: name }, true);
  }, [name, place.zone]);
  if (zone.data) return <ZoneRecords key={zone.data.id} zone={zone.data} place={place} />;
  return (
    <>
      <PageHeader
        title={<bdi>{place.zone}</bdi>}
        crumbs={[{ label: "Zones", to: { view: "zones" } }]}
        onReload={zone.reload}
        isLoading={zone.isLoading}
      />
      {zone.problem !== undefined ? (
        <DnsProblemState problem={zone.problem} onRetry={zone.reload} />
      ) : zone.data === undefined ? (
        <Loading what={`the zone ${place.zone}`} />
      ) : (
        <Empty title={`Zone ${place.zone} not found`}>
          <p>The zone was deleted, or the address has a mistake.</p>
          <Link to={{ view: "zones" }}>Show all zones</Link>
        </Empty>
      )}
    </>
  );
}

interface ZoneRecordsProps {
  readonly zone: DnsZone;
  readonly place: RecordsPlace;
}

function ZoneRecords({ zone, place }: ZoneRecordsProps) {
  const { go } = useNavigation();
  const notices = useNotices();
  const { tasks, endedCount, tryStart } = useTasks();
  const [dialog, setDialog] = useState<"import" | "delete" | null>(null);
  const search = useRef<HTMLInputElement>(null);
  const list = useRecordList(zone, place);
  const types = useFetched(fetchRecordTypes, "record types");
  const { page = 1 } = place;

  const change = (part: Partial<RecordsPlace>, isReplaced = false): void => {
    const { page: nextPage = 1, sort: nextSort = "name", ...rest } = { ...place, ...part };
    const next = {
      ...rest,
      ...(nextSort !== "name" && { sort: nextSort }),
      ...(nextPage > 1 && { page: nextPage }),
    };
    go(next, isReplaced);
  };
  const pages = list.data?.pages ?? page;
  // The last page went away with its records.
  useEffect(() => {
    if (page > pages) change({ page: pages }, true);
  }, [page, pages]);
  useEffect(() => {
    if (endedCount > 0) list.reload();
  }, [endedCount]);
  const deleted = useMemo(() => {
    const active = tasks.filter(isActive);
    const records = active.flatMap((task) => (task.kind === "deleteRecords" ? task.records : []));
    return new Set(records.map(({ id }) => id));
  }, [tasks]);
  const deleteRecord = ({ id, name, type }: DnsRecord): void => {
    const records = [{ id, name, type }];
    void tryStart({ kind: "deleteRecords", zone: zone.id, zoneName: zone.name, records });
  };
  const add = (): void => change({ record: newRecord });
  const exportZone = (): void => {
    const link = document.createElement("a");
    link.href = apiUrl(dnsPath(["zones", zone.id, "dns_records", "export"]));
    link.download = `${zone.name}.zone`;
    link.click();
  };
  useShortcuts({
    "/": { label: "Search the records", act: () => search.current?.focus() },
    n: { label: "New record", act: add },
    i: { label: "Import a zone file", act: () => setDialog("import") },
    e: { label: "Export the zone", act: exportZone },
  });

  return (
    <>
      <PageHeader
        title={<bdi>{zone.name}</bdi>}
        crumbs={[{ label: "Zones", to: { view: "zones" } }]}
        {...(list.data !== undefined && { counts: countOf(list.data.total, place.search) })}
        onReload={list.reload}
        isLoading={list.isLoading}
      >
        <button type="button" class="button primary" onClick={add}>
          New record
        </button>
        <Menu
          label={`Actions of ${zone.name}`}
          items={[
            { label: "Import", icon: "upload", act: () => setDialog("import") },
            { label: "Export", icon: "download", act: exportZone },
            {
              label: "Delete zone",
              icon: "delete",
              isDanger: true,
              act: () => setDialog("delete"),
            },
          ]}
        />
      </PageHeader>
      <ZoneFacts zone={zone} />
      <input
        ref={search}
        class="input"
        type="search"
        aria-label="Search all records of the zone"
        placeholder="Search all records: names, contents, comments, tags"
        autoComplete="off"
        spellcheck={false}
        value={place.search}
        onInput={({ currentTarget }) => change({ search: currentTarget.value, page: 1 }, true)}
        onKeyDown={({ key, currentTarget }) => {
          if (key === "Escape") currentTarget.blur();
        }}
      />
      {list.problem !== undefined && <Problem problem={list.problem} onRetry={list.reload} />}
      {list.data === undefined ? (
        list.problem === undefined && <Loading what={`the records of ${zone.name}`} />
      ) : list.data.total === 0 ? (
        <Empty title={place.search === "" ? "No records yet" : "No record found"}>
          {place.search === "" ? (
            <p>Add a record, or import a zone file.</p>
          ) : (
            <p>
              No name, content, comment or tag of this zone contains{" "}
              <bdi class="code">{place.search}</bdi>.
            </p>
          )}
        </Empty>
      ) : (
        <>
          <div class="panel record-panel">
            <RecordTable
              place={place}
              records={list.data.records}
              deleted={deleted}
              onSort={(next) => change({ sort: next, page: 1 })}
              onDelete={deleteRecord}
            />
          </div>
          {pages > 1 && (
            <Pager
              {...{ page, pages }}
              total={list.data.total}
              onPage={(next) => change({ page: next })}
            />
          )}
        </>
      )}
      {place.record !== null && types.data !== undefined && (
        <RecordDialog
          key={place.record}
          zone={zone}
          id={place.record}
          types={types.data}
          onClose={() => change({ record: null })}
          onSaved={(record) => {
            const did = place.record === newRecord ? "added" : "saved";
            notices.show(`${record.type} ${record.name} was ${did}.`);
            change({ record: null });
            list.reload();
          }}
        />
      )}
      {dialog === "import" && (
        <ImportDialog zone={zone} onClose={() => setDialog(null)} onImported={list.reload} />
      )}
      {dialog === "delete" && (
        <DeleteZoneDialog
          zone={zone}
          onClose={() => setDialog(null)}
          onDeleted={() => {
            notices.show(`The zone ${zone.name} was deleted.`);
            go({ view: "zones" });
          }}
        />
      )}
    </>
  );
}

/** Search and order cover all records of the zone, so the counts do, too. */
function countOf(total: number, search: string): string {
  return search === "" ? countedNoun(total, "record") : `${countedNoun(total, "record")} found`;
}

function useRecordList(zone: DnsZone, { search, sort = "name", page = 1 }: RecordsPlace) {
  const fetched = useFetched(
    async (signal) => {
      const query = {
        per_page: recordsPerPage,
        page,
        order: sort.replace("-", ""),
        direction: sort.startsWith("-") ? "desc" : "asc",
        search: search === "" ? undefined : search,
      };
      const path = ["zones", zone.id, "dns_records"];
      const { result, result_info } = await callDns<DnsRecord[]>(path, { query, signal });
      const { total_count: total = result.length, total_pages: pages = 1 } = result_info ?? {};
      return { records: result, total, pages };
    },
    `records ${zone.id} ${page} ${sort} ${search}`,
    (change) => change.topic === "records" && change.zone === zone.id,
  );
  // The last list stays until the next is there, so that nothing flickers while a person types.
  const last = useRef(fetched.data);
  last.current = fetched.data ?? last.current;
  return { ...fetched, data: last.current };
}

interface PagerProps {
  readonly page: number;
  readonly pages: number;
  readonly total: number;
  readonly onPage: (page: number) => void;
}

function Pager({ page, pages, total, onPage }: PagerProps) {
  const first = (page - 1) * recordsPerPage + 1;
  const last = Math.min(page * recordsPerPage, total);
  const step = (label: string, target: number) => (
    <button
      type="button"
      class="button"
      disabled={target < 1 || target > pages}
      onClick={() => onPage(target)}
    >
      {label}
    </button>
  );
  return (
    <nav class="toolbar" aria-label="Pages of records">
      <p class="grow" role="status">
        {formatCount(first)}–{formatCount(last)} of {countedNoun(total, "record")}
      </p>
      {step("Previous page", page - 1)}
      {step("Next page", page + 1)}
    </nav>
  );
}
