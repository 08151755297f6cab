/** The objects of a folder of a bucket. */
import { useMemo, useRef, useState } from "preact/hooks";
import { apiUrl, bucketPath } from "../api-client.ts";
import { shownKey } from "../frame/format.ts";
import type { MenuItem } from "../frame/menu.tsx";
import { Link, useNavigation } from "../frame/navigation.tsx";
import { PageHeader } from "../frame/page-header.tsx";
import { Empty, Loading, Problem } from "../frame/parts.tsx";
import { useShortcuts, type Shortcut } from "../frame/shortcuts.tsx";
import { useTasks } from "../frame/tasks.tsx";
import { bucketPlace } from "../location.ts";
import { ObjectDetailsPanel } from "../preview/object-details.tsx";
import { ObjectGrid } from "./object-grid.tsx";
import { useObjectList, type ObjectList, type ObjectsPlace } from "./use-object-list.ts";
import {
  breadcrumbs,
  splitPrefix,
  countRows,
  deletionFinder,
  selectionOf,
  type ObjectRow,
} from "./object-rows.ts";
import { downloadRows, PageSteps, PrefixSearch, SelectionBar } from "./object-toolbar.tsx";
import { clear, extend, selectAll, toggle, toggleAll } from "./row-selection.ts";
import { TargetDialog, type TargetKind } from "./target-dialog.tsx";
import { UploadButtons, UploadZone } from "./upload-zone.tsx";

export function ObjectsView({ place }: { readonly place: ObjectsPlace }) {
  const { bucket, prefix, key, sort } = place;
  const { go } = useNavigation();
  const list = useObjectList(place);
  const { rows, ids, selection, setSelection, activeRow } = list;
  const tasks = useTasks();
  const deletionOf = useMemo(() => deletionFinder(tasks.tasks, bucket), [tasks.tasks, bucket]);
  const [dialog, setDialog] = useState<{
    readonly kind: TargetKind;
    readonly rows: readonly ObjectRow[];
  }>();
  const grid = useRef<HTMLDivElement>(null);
  const searchField = useRef<HTMLInputElement>(null);
  const focusList = (): void => grid.current?.focus({ preventScroll: true });
  const closeDetails = (): void => {
    go({ ...place, key: null });
    focusList();
  };
  const selected = rows.filter(({ id }) => selection.selected.has(id));
  /** What can be done with rows: in the menu of a row, beside the search, and by keys. */
  const actionsOn = (chosen: readonly ObjectRow[]): readonly RowAction[] => {
    const isFile = chosen.length === 1 && chosen[0]?.object !== null;
    const ask = (kind: TargetKind) => () => setDialog({ kind, rows: chosen });
    const rename: RowAction = { label: "Rename…", icon: "edit", key: "F2", act: ask("rename") };
    return [
      {
        label: isFile ? "Download" : "Download as zip",
        icon: "download",
        act: () => downloadRows(bucket, chosen),
      },
      { label: "Copy…", icon: "copy", key: "c", act: ask("copy") },
      { label: "Move…", icon: "move", key: "m", act: ask("move") },
      ...(isFile ? [rename] : []),
      {
        label: "Delete",
        icon: "delete",
        key: "Delete",
        isDanger: true,
        act: () => {
          const deleted = selectionOf(
            bucket,
            chosen.filter(({ path, object }) => deletionOf(path, object === null) === undefined),
          );
          setSelection(clear);
          if (deleted.keys.length + deleted.prefixes.length === 0) return;
          void tasks.tryStart({ kind: "delete", ...deleted });
        },
      },
    ];
  };
  // The selected rows, or the active row if no row is selected.
  const chosen = selected.length > 0 || activeRow === undefined ? selected : [activeRow];
  const inList = (label: string, act: Shortcut["act"]): Shortcut => ({
    label,
    act: (event) => {
      focusList();
      act(event);
    },
    // The details have keys of their own: a video is paused by Space.
    when: ({ target }) => !(target instanceof Element && target.closest(".object-side") !== null),
  });
  const moveBy = (step: 1 | -1) => (event: KeyboardEvent) => list.move(step, event.shiftKey);
  useShortcuts({
    "/": { label: "Search by prefix", act: () => searchField.current?.select() },
    ArrowDown: inList("Next row; with Shift, extend the selection", moveBy(1)),
    ArrowUp: inList("Previous row; with Shift, extend the selection", moveBy(-1)),
    Enter: inList("Open the folder or the details", () => activeRow && list.open(activeRow)),
    Backspace: inList("Go up", list.goUp),
    ArrowLeft: inList("Go up", list.goUp),
    " ": inList("Select the row", () => {
      if (activeRow !== undefined) setSelection((before) => toggle(before, activeRow.id));
    }),
    "Ctrl+a": inList("Select all rows", () => setSelection((before) => selectAll(before, ids))),
    z: { label: "Undo the deletion", act: tasks.undo },
    n: inList("Next page", () => list.goTo(list.next)),
    p: inList("First page", () => list.goTo("")),
    ...Object.fromEntries(
      actionsOn(chosen).flatMap(({ key: name, label, act }) => {
        const actOnRows = (): void => (chosen.length > 0 ? act() : undefined);
        return name === undefined ? [] : [[name, inList(label.replace("…", ""), actOnRows)]];
      }),
    ),
    Escape: {
      label: "Close the details, or clear the selection",
      act: () => (key === null ? setSelection(clear) : closeDetails()),
    },
  });
  return (
    <>
      <ObjectsHeader list={list} place={place} />
      <div class="toolbar object-toolbar" role="group" aria-label="Actions">
        <PrefixSearch
          field={searchField}
          prefix={prefix}
          onSearch={(wanted) => go({ ...place, prefix: wanted, after: "", key: null }, true)}
          onLeave={() => {
            focusList();
            if (selection.active === null) list.move(1, false);
          }}
        />
        {selected.length > 0 && (
          <SelectionBar
            selected={selected}
            actions={actionsOn(selected)}
            onClear={() => setSelection(clear)}
          />
        )}
      </div>
      {list.problem !== undefined && <Problem problem={list.problem} onRetry={list.reload} />}
      <div class="object-area">
        <UploadZone bucket={bucket} prefix={splitPrefix(prefix).folder}>
          <div class="object-list">
            {rows.length > 0 && (
              <ObjectGrid
                grid={grid}
                label={`Objects of ${bucket}/${shownKey(list.shown?.prefix ?? "")}`}
                list={list}
                sort={sort}
                openKey={key}
                deletionOf={deletionOf}
                menuOf={(row) => actionsOn([row])}
                onSort={(wanted) => go({ ...place, sort: wanted }, true)}
                onToggleAll={() => setSelection((before) => toggleAll(before, ids))}
                onOpen={(row) => {
                  focusList();
                  list.open(row);
                }}
                onToggle={(row) => {
                  focusList();
                  setSelection((before) => toggle(before, row.id));
                }}
                onExtend={(row) => {
                  focusList();
                  setSelection((before) => extend(before, ids, row.id));
                }}
              />
            )}
            <ListState list={list} bucket={bucket} />
            <PageSteps list={list} />
          </div>
        </UploadZone>
        {key !== null && (
          <aside class="object-side" aria-label="Details of the object">
            <ObjectDetailsPanel
              key={`${bucket}/${key}`}
              bucket={bucket}
              objectKey={key}
              onClose={closeDetails}
              onDelete={() =>
                deletionOf(key, false) === undefined
                  ? tasks.tryStart({ kind: "delete", bucket, keys: [key], prefixes: [] })
                  : Promise.resolve(true)
              }
            />
          </aside>
        )}
      </div>
      {dialog !== undefined && (
        <TargetDialog
          kind={dialog.kind}
          selection={selectionOf(bucket, dialog.rows)}
          onClose={() => setDialog(undefined)}
          onStart={async (task) => {
            await tasks.start(task);
            setSelection(clear);
          }}
        />
      )}
    </>
  );
}

interface ObjectsHeaderProps {
  readonly list: ObjectList;
  readonly place: ObjectsPlace;
}

function ObjectsHeader({ list, place: { bucket, prefix } }: ObjectsHeaderProps) {
  const { folder } = splitPrefix(prefix);
  const way = [
    { label: "Buckets", to: { view: "buckets" as const } },
    { label: bucket, to: bucketPlace(bucket) },
    ...breadcrumbs(folder).map(({ name, prefix: path }) => ({
      label: shownKey(name),
      to: bucketPlace(bucket, path),
    })),
  ];
  const title = way.at(-1)?.label ?? "";
  const counts = list.shown === undefined ? "" : countRows(list.rows);
  return (
    <PageHeader
      title={title === "" ? <i>(no name)</i> : <bdi>{title}</bdi>}
      crumbs={way.slice(0, -1)}
      counts={list.isWhole || counts === "" ? counts : `${counts} on this page`}
      onReload={list.reload}
      isLoading={list.isLoading}
    >
      <UploadButtons bucket={bucket} prefix={folder} />
      <a
        class="button"
        href={apiUrl(bucketPath(bucket, "/archive"), { prefix: folder })}
        download
        title="Download all objects below this folder as a zip file"
      >
        Download as zip
      </a>
      <Link class="button" to={{ view: "uploads", bucket }}>
        Uploads in progress
      </Link>
    </PageHeader>
  );
}

interface RowAction extends MenuItem {
  readonly key?: string;
}

/** What is said in place of rows. */
function ListState({ list, bucket }: { readonly list: ObjectList; readonly bucket: string }) {
  const { shown, rows, problem } = list;
  if (shown === undefined) {
    return problem === undefined ? <Loading what={`the objects of ${bucket}`} /> : null;
  }
  if (rows.length > 0) return null;
  if (shown.after !== "") return <Empty title="There are no objects on this page any more" />;
  const { folder, text } = splitPrefix(shown.prefix);
  if (text !== "") {
    return (
      <Empty title="No key begins with this text">
        <p>
          No object and no folder{folder === "" ? "" : " of this folder"} begins with{" "}
          <bdi class="code">{shownKey(text)}</bdi>. Capital letters matter.
        </p>
      </Empty>
    );
  }
  return (
    <Empty title={folder === "" ? "This bucket is empty" : "This folder has no objects"}>
      <p>
        Drop files here, or choose Upload files. Objects that the script or an S3 client writes show
        up here by themselves.
      </p>
    </Empty>
  );
}
