/** The records of a zone: facts, search, the table, pages, and everything that changes records. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { DnsRecord, DnssecInfo, DnsZone, LookupAnswer } from "../../api/zones-api.ts";
import { apiUrl, callApi } from "../api-client.ts";
import { useFetched } from "../frame/events.ts";
import { countedNoun, formatCount, shownKey } from "../frame/format.ts";
import { Icon } from "../frame/icon.tsx";
import { Menu } from "../frame/menu.tsx";
import { Link, useNavigation } from "../frame/navigation.tsx";
import { useNotices } from "../frame/notices.tsx";
import { PageHeader } from "../frame/page-header.tsx";
import { Empty, Loading, Problem } from "../frame/parts.tsx";
import { useShortcuts } from "../frame/shortcuts.tsx";
import { Table, type Column } from "../frame/table.tsx";
import { isActive } from "../frame/task-words.ts";
import { useTasks } from "../frame/tasks.tsx";
import type { Place } from "../location.ts";
import { newRecord, RecordDialog } from "./record-dialog.tsx";
import { edgeUrl, nextSort, splitName, ttlText } from "./record-rules.ts";
import { callDns, DeleteZoneDialog, DnsProblem, fetchZones, ImportDialog } from "./zone-parts.tsx";

type RecordsPlace = Extract<Place, { view: "records" }>;

const recordsPerPage = 100;
const crumbs = [{ label: "Zones", to: { view: "zones" } }] as const;

interface RecordsViewProps {
  readonly place: RecordsPlace;
  /** The URL of the script; `null` without a dev server. */
  readonly scriptUrl: string | null;
}

export function RecordsView({ place, scriptUrl }: RecordsViewProps) {
  const { go } = useNavigation();
  const { data, problem, isLoading, reload } = useFetched(
    async (signal) => {
      const zones = await fetchZones(signal);
      // A call of the record API has the id of its zone, and leads here.
      return zones.find(({ name, id }) => name === place.zone || id === place.zone) ?? null;
    },
    `zone ${place.zone}`,
    ({ topic }) => topic === "zones",
  );
  // The address has the name, which a person can read and share.
  const name = data?.name ?? place.zone;
  useEffect(() => {
    if (name !== place.zone) go({ ...place, zone: name }, true);
  }, [name, place.zone]);
  if (data) return <ZoneRecords key={data.id} zone={data} {...{ place, scriptUrl }} />;
  return (
    <>
      <PageHeader title={<bdi>{name}</bdi>} {...{ crumbs, isLoading }} onReload={reload} />
      {problem !== undefined ? (
        <DnsProblem problem={problem} onRetry={reload} />
      ) : data === undefined ? (
        <Loading what={`the zone ${name}`} />
      ) : (
        <Empty title={`Zone ${name} not found`}>
          <p>The zone was deleted, or the address has a mistake.</p>
          <Link to={{ view: "zones" }}>Show all zones</Link>
        </Empty>
      )}
    </>
  );
}

interface ZoneRecordsProps extends RecordsViewProps {
  readonly zone: DnsZone;
}

function ZoneRecords({ zone, place, scriptUrl }: ZoneRecordsProps) {
  const { go } = useNavigation();
  const notices = useNotices();
  const [dialog, setDialog] = useState<"import" | "delete" | null>(null);
  const search = useRef<HTMLInputElement>(null);
  const list = useRecordList(zone, place);
  const { page = 1 } = place;
  const pages = list.data?.pages ?? page;
  const change = (part: Partial<RecordsPlace>, isReplaced = false): void =>
    go({ ...place, ...part }, isReplaced);
  // The last page went away with its records.
  useEffect(() => {
    if (page > pages) change({ page: pages }, true);
  }, [page, pages]);
  const add = (): void => change({ record: newRecord });
  const exportZone = (): void => {
    const link = document.createElement("a");
    link.href = apiUrl(`/api/dns/zones/${zone.id}/dns_records/export`);
    link.download = `${zone.name}.zone`;
    link.click();
  };
  useShortcuts({
    "/": { label: "Search the records", act: () => search.current?.focus() },
    n: { label: "New record", act: add },
    i: { label: "Import a zone file", act: () => setDialog("import") },
    e: { label: "Export the zone", act: exportZone },
  });
  // Search and order cover all records of the zone, so the count does, too.
  const found = place.search === "" ? "" : " found";
  return (
    <>
      <PageHeader
        title={<bdi>{zone.name}</bdi>}
        crumbs={crumbs}
        counts={list.data && countedNoun(list.data.total, "record") + found}
        onReload={list.reload}
        isLoading={list.isLoading}
      >
        <button type="button" class="button primary" onClick={add}>
          <Icon name="new" />
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
        <RecordTable {...{ zone, place, scriptUrl }} records={list.data.records} />
      )}
      {list.data !== undefined && pages > 1 && (
        <Pager
          {...{ page, pages }}
          total={list.data.total}
          onPage={(next) => change({ page: next })}
        />
      )}
      {place.record !== null && (
        <RecordDialog
          key={place.record}
          zone={zone}
          id={place.record}
          onClose={() => change({ record: null })}
          onSaved={({ type, name }) => {
            notices.show(`${type} ${name} was ${place.record === newRecord ? "added" : "saved"}.`);
            change({ record: null });
            list.reload();
          }}
        />
      )}
      {dialog === "import" && (
        <ImportDialog zone={zone} onClose={() => setDialog(null)} onDone={list.reload} />
      )}
      {dialog === "delete" && (
        <DeleteZoneDialog
          zone={zone}
          onClose={() => setDialog(null)}
          onDone={() => {
            notices.show(`The zone ${zone.name} was deleted.`);
            go({ view: "zones" });
          }}
        />
      )}
    </>
  );
}

function useRecordList(zone: DnsZone, { search, sort = "name", page = 1 }: RecordsPlace) {
  const fetched = useFetched(
    async (signal) => {
      const query = {
        per_page: recordsPerPage,
        page,
        order: sort.replace("-", ""),
        direction: sort.startsWith("-") ? "desc" : "asc",
        search: search || undefined,
      };
      const path = `zones/${zone.id}/dns_records`;
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

interface RecordTableProps extends ZoneRecordsProps {
  readonly records: readonly DnsRecord[];
}

/** Columns that no record of the page fills are left out. */
function RecordTable({ zone, place, scriptUrl, records }: RecordTableProps) {
  const { go } = useNavigation();
  const { tasks, tryStart } = useTasks();
  const { sort = "name" } = place;
  const deleted = useMemo(() => {
    const ofTasks = tasks
      .filter(isActive)
      .map((task) => (task.kind === "deleteRecords" ? task.records : []));
    return new Set(ofTasks.flat().map(({ id }) => id));
  }, [tasks]);
  const deleteRecord = ({ id, name, type }: DnsRecord): void => {
    if (deleted.has(id)) return;
    const task = { kind: "deleteRecords", zone: zone.id, zoneName: zone.name } as const;
    void tryStart({ ...task, records: [{ id, name, type }] });
  };
  const columns: readonly Column<DnsRecord>[] = [
    { label: "Type", sort: "type", show: ({ type }) => <span class="badge">{type}</span> },
    {
      label: "Name",
      sort: "name",
      class: "record-name",
      show: ({ id, name }) => {
        const [own, rest] = splitName(name, zone.name);
        return (
          <Link to={{ ...place, record: id }} class="code">
            {own}
            <span class="soft">{rest}</span>
          </Link>
        );
      },
    },
    {
      label: "Content",
      sort: "content",
      class: "record-content",
      show: ({ content }) => <bdi class="code">{shownKey(content)}</bdi>,
    },
    { label: "Priority", show: ({ priority }) => priority?.toString() },
    { label: "TTL", sort: "ttl", show: ({ ttl }) => ttlText(ttl) },
    {
      label: "Proxied",
      sort: "proxied",
      show: ({ name, proxied }) => proxied && <ProxiedName url={edgeUrl(name, scriptUrl)} />,
    },
    {
      label: "Comment",
      class: "record-comment",
      show: ({ comment, tags }) =>
        (comment || tags.length > 0) && (
          <>
            <bdi>{shownKey(comment ?? "")}</bdi>
            {tags.map((tag) => (
              <bdi key={tag} class="badge">
                {shownKey(tag)}
              </bdi>
            ))}
          </>
        ),
    },
  ];
  const actions: Column<DnsRecord> = {
    label: "Actions",
    isLabelHidden: true,
    class: "record-actions",
    show: (record) => {
      const { id, name, type } = record;
      if (deleted.has(id)) return "Deleting…";
      return (
        <Menu
          label={`Actions of ${type} ${name}`}
          items={[
            { label: "Edit", icon: "edit", act: () => go({ ...place, record: id }) },
            { label: "Look up", icon: "search", act: () => go({ view: "lookup", name, type }) },
            { label: "Delete", icon: "delete", isDanger: true, act: () => deleteRecord(record) },
          ]}
        />
      );
    },
  };
  return (
    <div class="panel record-panel">
      <Table
        noun="record"
        class="record-table"
        columns={[...columns.filter(({ show }) => records.some((record) => show(record))), actions]}
        rows={records}
        idOf={({ id }) => id}
        rowClass={({ id }) => (deleted.has(id) ? "is-leaving" : "")}
        sort={sort}
        sortTitle="Sorts all records"
        onSort={(column) => go({ ...place, sort: nextSort(sort, column), page: 1 })}
        keys={{
          Delete: { label: "Delete the record, with ten seconds to undo", act: deleteRecord },
        }}
      />
    </div>
  );
}

function ProxiedName({ url }: { readonly url: string | null }) {
  if (url === null) return "yes";
  return (
    <a href={url} target="_blank" rel="noreferrer">
      open <Icon name="external" />
    </a>
  );
}

const dnssecBadges = { active: "good", pending: "warning", disabled: "" } as const;

/** The serial that the name server serves, the name servers, and DNSSEC. */
function ZoneFacts({ zone }: { readonly zone: DnsZone }) {
  const notices = useNotices();
  const [isBusy, setBusy] = useState(false);
  const path = `zones/${zone.id}/dnssec`;
  const { data, problem, reload } = useFetched(
    async (signal) => ({
      serial: await fetchSerial(zone.name, signal).catch((error: Error) => error.message),
      ...(await callDns<DnssecInfo>(path, { signal })).result,
    }),
    `facts ${zone.id}`,
    (change) => change.topic === "zones" || (change.topic === "records" && change.zone === zone.id),
  );
  if (problem !== undefined) return <p class="field-problem">{problem.message}</p>;
  const { serial = "…", status = "disabled", ds = null } = data ?? {};
  const isOn = status !== "disabled";
  const turn = (): void => {
    setBusy(true);
    callDns(path, { method: "PATCH", json: { status: isOn ? "disabled" : "active" } })
      .catch((error: Error) => notices.show(error.message, { tone: "problem" }))
      .finally(() => {
        setBusy(false);
        reload();
      });
  };
  return (
    <dl class="toolbar zone-facts">
      <dt>Serial</dt>
      <dd class="code">{serial}</dd>
      <dt>Name servers</dt>
      <dd class="code">{zone.name_servers.join(", ")}</dd>
      <dt>DNSSEC</dt>
      <dd class="toolbar">
        <span class={`badge ${dnssecBadges[status]}`}>{status}</span>
        <button type="button" class="button" disabled={isBusy || !data} onClick={turn}>
          {isOn ? "Turn off" : "Turn on"}
        </button>
        {isOn && ds !== null && <code>{ds}</code>}
      </dd>
    </dl>
  );
}

async function fetchSerial(name: string, signal: AbortSignal): Promise<string> {
  const query = { name, type: "SOA", transport: "https" };
  const { answers } = await callApi<LookupAnswer>("/api/lookup", { query, signal });
  // RFC 1035 section 3.3.13: the third word.
  return answers.find(({ type }) => type === "SOA")?.data.split(" ")[2] ?? "not served";
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
