/** The objects of a folder of a bucket. */
import { useMemo, useRef, useState } from "preact/hooks";
import { splitPrefix } from "../objects/folder-path.ts";
import { findStart } from "../objects/page-trail.ts";
import { clear, extend, toggle, toggleAll } from "../objects/row-selection.ts";
import { deletionFinder } from "../objects/task-state.ts";
import { CopyDialog } from "../parts/copy-dialog.tsx";
import { FolderBreadcrumbs } from "../parts/folder-breadcrumbs.tsx";
import { ObjectDetailsPanel } from "../preview/object-details.tsx";
import { ObjectGrid } from "../parts/object-grid.tsx";
import { useObjectKeys } from "../parts/object-keys.ts";
import { ObjectToolbar, type SelectionActions } from "../parts/object-toolbar.tsx";
import { PageSteps } from "../parts/page-steps.tsx";
import { PrefixSearch } from "../parts/prefix-search.tsx";
import { RenameDialog } from "../parts/rename-dialog.tsx";
import { Empty, Loading, Problem } from "../parts/states.tsx";
import { UploadZone } from "../objects/upload-zone.tsx";
import {
  selectionOf,
  useObjectList,
  type ObjectList,
  type ObjectsPlace,
} from "../state/use-object-list.ts";
import { useObjectTasks } from "../state/use-object-tasks.ts";
import { useNavigation } from "../state/use-place.ts";
import "../styles/objects.css";

export function ObjectsView({ place }: { readonly place: ObjectsPlace }) {
  const { bucket, prefix, key } = place;
  const { go } = useNavigation();
  const list = useObjectList(place);
  const { rows, ids, selection, setSelection, shown, reload } = list;
  const tasks = useObjectTasks(reload);
  const deletionOf = useMemo(() => deletionFinder(tasks.tasks, bucket), [tasks.tasks, bucket]);
  const [dialog, setDialog] = useState<"copy" | "move" | "rename">();
  const grid = useRef<HTMLDivElement>(null);
  const searchField = useRef<HTMLInputElement>(null);
  const focusList = (): void => grid.current?.focus({ preventScroll: true });
  const { folder } = splitPrefix(prefix);
  const chosen = selectionOf(bucket, list.chosenRows);
  const hasChosen = list.chosenRows.length > 0;
  const closeDetails = (): void => {
    go({ ...place, key: null });
    focusList();
  };
  const actions: SelectionActions = {
    onCopy: () => hasChosen && setDialog("copy"),
    onMove: () => hasChosen && setDialog("move"),
    onRename: () => chosen.keys.length === 1 && chosen.prefixes.length === 0 && setDialog("rename"),
    onDelete: () => {
      const deleted = list.chosenRows.filter((row) => deletionOf(row) === undefined);
      if (deleted.length > 0) void tasks.startDeletion(selectionOf(bucket, deleted));
      setSelection(clear);
    },
    onClear: () => setSelection(clear),
  };
  useObjectKeys({
    list,
    actions,
    focusList,
    onSearch: () => searchField.current?.select(),
    onUndo: tasks.undo,
    onEscape: () => (key === null ? setSelection(clear) : closeDetails()),
  });
  const dialogProps = {
    onClose: () => setDialog(undefined),
    onStart: async (task: Parameters<typeof tasks.startCopy>[0]) => {
      await tasks.startCopy(task);
      setSelection(clear);
    },
  };
  return (
    <>
      <FolderBreadcrumbs bucket={bucket} folder={folder} />
      <ObjectToolbar
        bucket={bucket}
        folder={folder}
        selected={selection.selected.size > 0 ? list.chosenRows : []}
        {...actions}
      >
        <PrefixSearch
          field={searchField}
          prefix={prefix}
          onSearch={(wanted) => go({ ...place, prefix: wanted, after: "", key: null }, true)}
          onLeave={() => {
            focusList();
            if (selection.active === null) list.move(1, false);
          }}
        />
      </ObjectToolbar>
      {list.problem !== undefined && <Problem problem={list.problem} onRetry={reload} />}
      <div class="object-area">
        <UploadZone bucket={bucket} prefix={folder} onUploaded={reload}>
          <div class="object-list">
            {rows.length > 0 && (
              <ObjectGrid
                grid={grid}
                label={`Objects of ${bucket}/${shown?.prefix ?? ""}`}
                folder={list.folder}
                listing={list.listing}
                rows={rows}
                selection={selection}
                sort={place.sort}
                openKey={key}
                isBusy={list.isLoading}
                placeOf={list.placeOf}
                deletionOf={deletionOf}
                onSort={(sort) => go({ ...place, sort }, true)}
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
            {shown !== undefined && (rows.length > 0 || shown.after !== "") && (
              <PageSteps
                rows={rows.length}
                after={shown.after}
                start={findStart(list.trail, shown.after)}
                hasNext={list.hasNext}
                onPrevious={list.goPrevious}
                onNext={list.goNext}
              />
            )}
          </div>
        </UploadZone>
        {key !== null && (
          <aside class="object-side" aria-label="Details of the object">
            <ObjectDetailsPanel
              key={`${bucket}/${key}`}
              bucket={bucket}
              objectKey={key}
              onClose={closeDetails}
              onChanged={reload}
              onDelete={() =>
                deletionOf({ kind: "object", path: key }) === undefined
                  ? tasks.startDeletion({ bucket, keys: [key], prefixes: [] })
                  : Promise.resolve(true)
              }
            />
          </aside>
        )}
      </div>
      {(dialog === "copy" || dialog === "move") && (
        <CopyDialog kind={dialog} selection={chosen} {...dialogProps} />
      )}
      {dialog === "rename" && (
        <RenameDialog bucket={bucket} objectKey={chosen.keys[0] ?? ""} {...dialogProps} />
      )}
    </>
  );
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
          <bdi class="code">{text}</bdi>. Capital letters matter.
        </p>
      </Empty>
    );
  }
  if (folder !== "") {
    return (
      <Empty title="This folder has no objects">
        <p>A folder exists while an object is in it. Drop files here, or choose Upload.</p>
      </Empty>
    );
  }
  return (
    <Empty title="This bucket is empty">
      <p>Drop files here, or choose Upload. Objects that the script writes show up here too.</p>
    </Empty>
  );
}
