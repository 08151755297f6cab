/** The records of a zone that exists: search, pages, and everything that changes records. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { DnsRecord, DnsZone } from "../../api/zones-api.ts";
import type { Place } from "../location.ts";
import { undoMilliseconds } from "../../api/tasks.ts";
import { useShortcuts } from "../parts/shortcuts.tsx";
import { Empty, Loading, Problem } from "../parts/states.tsx";
import { useNotices } from "../state/notices.ts";
import { useFetched } from "../state/use-fetched.ts";
import { useNavigation } from "../state/use-place.ts";
import { callDns, dnsPath } from "./dns-calls.ts";
import { ImportDialog } from "./import-dialog.tsx";
import { Pager } from "./pager.tsx";
import { RecordDialog } from "./record-dialog.tsx";
import { RecordGrid } from "./record-grid.tsx";
import { deletions } from "./record-writes.ts";
import { ZoneFacts } from "./zone-facts.tsx";

type RecordsPlace = Extract<Place, { view: "records" }>;

const recordsPerPage = 100;
/** A person types faster than a list is of use. */
const searchMilliseconds = 150;

export function ZoneRecords({
  zone,
  place,
}: {
  readonly zone: DnsZone;
  readonly place: RecordsPlace;
}) {
  const { go } = useNavigation();
  const notices = useNotices();
  const [isAdding, setAdding] = useState(false);
  const [isImporting, setImporting] = useState(false);
  const [version, setVersion] = useState(0);
  const search = useRef<HTMLInputElement>(null);
  const list = useRecordList(zone, place);
  const { sort = "name", page = 1 } = place;
  const exportPath = dnsPath("zones", zone.id, "dns_records", "export");
  const exportLink = useRef<HTMLAnchorElement>(null);

  const change = (part: Partial<RecordsPlace>, isReplaced = false): void => {
    const { page: _page, sort: _sort, ...rest } = { ...place, ...part };
    const next = { sort, page, ...part };
    go(
      {
        ...rest,
        ...(next.sort !== "name" && { sort: next.sort }),
        ...(next.page > 1 && { page: next.page }),
      },
      isReplaced,
    );
  };
  const changed = (): void => {
    list.reload();
    setVersion((before) => before + 1);
  };
  const deleteRecord = (record: DnsRecord): void => {
    const subject = `${record.type} ${record.name}`;
    const notice = notices.show(`${subject} will be deleted in ten seconds.`, {
      milliseconds: undoMilliseconds,
      action: { label: "Undo", act: () => deletions.undo(record.id) },
    });
    deletions.add({ zoneId: zone.id, record }, (error) => {
      notices.dismiss(notice);
      if (error !== null) {
        const text = `${subject} was not deleted. ${(error as Error).message}`;
        notices.show(text, { tone: "problem" });
      }
      changed();
    });
  };
  useShortcuts({
    "/": { label: "Search the records", act: () => search.current?.focus() },
    n: { label: "New record", act: () => setAdding(true) },
    i: { label: "Import a zone file", act: () => setImporting(true) },
    e: { label: "Export the zone", act: () => exportLink.current?.click() },
  });

  return (
    <>
      <ZoneFacts zone={zone} version={version} />
      <div class="toolbar">
        <SearchField
          input={search}
          value={place.search}
          onSearch={(text) => change({ search: text, page: 1 }, true)}
        />
        <button type="button" class="button primary" onClick={() => setAdding(true)}>
          New record
        </button>
        <button type="button" class="button" onClick={() => setImporting(true)}>
          Import
        </button>
        <a class="button" ref={exportLink} href={exportPath} download={`${zone.name}.zone`}>
          Export
        </a>
      </div>
      {list.problem !== undefined && <Problem problem={list.problem} onRetry={list.reload} />}
      {list.data === undefined ? (
        list.problem === undefined && <Loading what={`the records of ${zone.name}`} />
      ) : list.data.total === 0 ? (
        place.search === "" ? (
          <Empty title="No records yet">
            <p>Add a record, or import a zone file.</p>
          </Empty>
        ) : (
          <Empty title="No record matches">
            <p>
              No name, content, comment or tag contains <bdi class="code">{place.search}</bdi>.
            </p>
          </Empty>
        )
      ) : (
        <>
          <div class="panel record-panel">
            <RecordGrid
              zone={zone}
              records={list.records}
              sort={sort}
              isLoading={list.isLoading}
              onSort={(next) => change({ sort: next, page: 1 })}
              onChanged={(record) => {
                list.replace(record);
                setVersion((before) => before + 1);
              }}
              onEdit={(record) => change({ record: record.id })}
              onDelete={deleteRecord}
            />
          </div>
          <Pager
            label={list.data.total === 1 ? "record" : "records"}
            page={page}
            pages={list.data.pages}
            perPage={recordsPerPage}
            total={list.data.total}
            onPage={(next) => change({ page: next })}
          />
        </>
      )}
      {isAdding && (
        <RecordDialog
          zone={zone}
          record={null}
          onClose={() => setAdding(false)}
          onSaved={(record) => {
            setAdding(false);
            notices.show(`${record.type} ${record.name} was added.`);
            changed();
          }}
        />
      )}
      {isImporting && (
        <ImportDialog zone={zone} onClose={() => setImporting(false)} onImported={changed} />
      )}
      {place.record !== null && (
        <OpenRecord
          zone={zone}
          id={place.record}
          onClose={() => change({ record: null })}
          onSaved={(record) => {
            list.replace(record);
            change({ record: null });
            changed();
          }}
        />
      )}
    </>
  );
}

/** The page of the list, without what was deleted and with what was changed here. */
function useRecordList(zone: DnsZone, { search, sort = "name", page = 1 }: RecordsPlace) {
  const [replaced, setReplaced] = useState<ReadonlyMap<string, DnsRecord>>(new Map());
  const [round, setRound] = useState(0);
  useEffect(() => deletions.subscribe(() => setRound((before) => before + 1)), []);
  const key = `records ${zone.id} ${page} ${sort} ${search}`;
  const fetched = useFetched(async (signal) => {
    const query = {
      per_page: recordsPerPage,
      page,
      order: sort.replace("-", ""),
      direction: sort.startsWith("-") ? "desc" : "asc",
      search: search === "" ? undefined : search,
    };
    const path = dnsPath("zones", zone.id, "dns_records");
    const { result, result_info } = await callDns<DnsRecord[]>(path, { query, signal });
    setReplaced(new Map());
    const { total_count: total = result.length, total_pages: pages = 1 } = result_info ?? {};
    return { records: result, total, pages };
  }, key);
  // The last list stays until the next is there, so that nothing flickers while a person types.
  const last = useRef(fetched.data);
  last.current = fetched.data ?? last.current;
  const data = last.current;
  const records = useMemo(
    () =>
      (data?.records ?? [])
        .map((record) => replaced.get(record.id) ?? record)
        .filter(({ id }) => !deletions.has(id)),
    [data, replaced, round],
  );
  const replace = (record: DnsRecord): void =>
    setReplaced((before) => new Map(before).set(record.id, record));
  return { ...fetched, data, records, replace };
}

function SearchField({
  input,
  value,
  onSearch,
}: {
  readonly input: { current: HTMLInputElement | null };
  readonly value: string;
  readonly onSearch: (text: string) => void;
}) {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const act = useRef(onSearch);
  act.current = onSearch;
  useEffect(() => setText(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (next: string, milliseconds: number): void => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => act.current(next), milliseconds);
  };
  return (
    <input
      ref={input}
      class="input grow record-search"
      type="search"
      aria-label="Search names, contents, comments and tags"
      placeholder="Search names, contents, comments, tags"
      autoComplete="off"
      spellcheck={false}
      value={text}
      onInput={(event) => type(event.currentTarget.value, searchMilliseconds)}
      onKeyDown={(event) => {
        if (event.key === "Enter") type(event.currentTarget.value, 0);
        if (event.key === "Escape") event.currentTarget.blur();
      }}
    />
  );
}

/** The record that the address names. */
function OpenRecord({
  zone,
  id,
  onClose,
  onSaved,
}: {
  readonly zone: DnsZone;
  readonly id: string;
  readonly onClose: () => void;
  readonly onSaved: (record: DnsRecord) => void;
}) {
  const notices = useNotices();
  const { data, problem } = useFetched(
    async (signal) =>
      (await callDns<DnsRecord>(dnsPath("zones", zone.id, "dns_records", id), { signal })).result,
    `record ${id}`,
  );
  useEffect(() => {
    if (problem === undefined) return;
    const text =
      problem.status === 404
        ? "The record does not exist: it was deleted, or the address has a mistake."
        : problem.message;
    notices.show(text, { tone: "problem" });
    onClose();
  }, [problem]);
  if (data === undefined) return null;
  return <RecordDialog zone={zone} record={data} onClose={onClose} onSaved={onSaved} />;
}
