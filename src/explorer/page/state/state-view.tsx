/**
 * The saved states of the project: save, restore, compare and delete. A restore asks nothing, because the
 * server saves first what is there, and "Undo" restores that.
 */
import { useState } from "preact/hooks";
import { formatBytes } from "../../../base/format.ts";
import type { Restored, SavedState, StateList } from "../../api/state.ts";
import { callApi, type ApiCallError } from "../api-client.ts";
import { useFetched } from "../frame/events.ts";
import { FormDialog, TextField } from "../frame/form.tsx";
import { countedNoun } from "../frame/format.ts";
import { Link } from "../frame/navigation.tsx";
import { useNotices } from "../frame/notices.tsx";
import { PageHeader } from "../frame/page-header.tsx";
import { Button, Empty, Loading, Problem, Progress, Time } from "../frame/parts.tsx";
import { useShortcuts } from "../frame/shortcuts.tsx";
import { Table, type Column } from "../frame/table.tsx";

export function useStates() {
  return useFetched<StateList>(
    (signal) => callApi("/api/state", { signal }),
    "state",
    ({ topic }) => topic === "state",
  );
}

const columns: readonly Column<SavedState>[] = [
  {
    label: "Name",
    isRowHeader: true,
    show: ({ name, isAutomatic }) => (
      <>
        <Link to={{ view: "difference", from: name, to: "" }}>{name}</Link>{" "}
        {isAutomatic && (
          <span class="badge" title="Saved by a restore, or made from the seed of the project">
            automatic
          </span>
        )}
      </>
    ),
  },
  {
    label: "Saved",
    class: "narrow-hidden",
    show: ({ savedAt }) => <Time at={Date.parse(savedAt)} />,
  },
  { label: "Size", class: "number narrow-hidden", show: ({ bytes }) => formatBytes(bytes) },
];

export function StateView() {
  const { data, problem, isLoading, reload } = useStates();
  const { show } = useNotices();
  /** The state that is being restored. */
  const [restoring, setRestoring] = useState<string | null>(null);
  const restore = (name: string): void => {
    if (restoring !== null) return;
    setRestoring(name);
    const tell = ({ undo, ended }: Restored): void => {
      const requests = ended.length === 0 ? "" : ` Ended: ${ended.join("; ")}.`;
      if (undo === null) return show(`Nothing differs from ${name}.${requests}`);
      show(`Restored ${name}.${requests} What was there before is saved as ${undo}.`, {
        action: { label: "Undo", act: () => restore(undo) },
      });
    };
    callApi<Restored>("/api/state/restore", { method: "POST", json: { name } })
      .then(tell, ({ message }: ApiCallError) => show(message, { tone: "problem" }))
      .finally(() => setRestoring(null));
  };
  const [isSaving, setSaving] = useState(false);
  const [deleted, setDeleted] = useState<string>();
  useShortcuts({ n: { label: "Save the state", act: () => setSaving(true) } });
  const actions: Column<SavedState> = {
    label: "Actions",
    class: "number",
    isLabelHidden: true,
    show: ({ name }) => (
      <>
        <Button label={`Restore ${name}`} onClick={() => restore(name)}>
          Restore
        </Button>{" "}
        <Button tone="quiet" label={`Delete ${name}`} onClick={() => setDeleted(name)}>
          Delete
        </Button>
      </>
    ),
  };
  return (
    <>
      <PageHeader
        title="State"
        counts={data && countedNoun(data.states.length, "saved state")}
        onReload={reload}
        isLoading={isLoading}
      >
        <Button icon="new" tone="primary" onClick={() => setSaving(true)}>
          Save the state
        </Button>
      </PageHeader>
      {/* The element stays, because screen readers announce changes of an element that was there before. */}
      <div role="status">
        {restoring !== null && (
          <Progress label="Restoring" value={0} max={null} text={`Restoring ${restoring}…`} />
        )}
      </div>
      {problem !== undefined && <Problem problem={problem} onRetry={reload} />}
      {data === undefined && problem === undefined && <Loading what="the saved states" />}
      {data?.states.length === 0 && (
        <Empty title="No saved states yet">
          <p>
            A saved state has everything at one moment: buckets, zones, KV, D1, R2, caches and
            Durable Objects. Save the state before you try something, and restore it afterwards.
          </p>
          <p>
            Or in a terminal: <code>ledge state save before</code>
          </p>
        </Empty>
      )}
      {data !== undefined && data.states.length > 0 && (
        <div class="panel">
          <Table
            noun="saved state"
            label="Saved states"
            columns={[...columns, actions]}
            rows={data.states}
            idOf={({ name }) => name}
            keys={{ Delete: { label: "Delete", act: ({ name }) => setDeleted(name) } }}
          />
        </div>
      )}
      {isSaving && <SaveDialog states={data?.states ?? []} onClose={() => setSaving(false)} />}
      {deleted !== undefined && (
        <FormDialog
          title="Delete the saved state?"
          action="Delete"
          isDanger
          onClose={() => setDeleted(undefined)}
          onSubmit={async () => {
            await callApi(`/api/state/${encodeURIComponent(deleted)}`, { method: "DELETE" });
            setDeleted(undefined);
            show(`Deleted the saved state ${deleted}.`);
          }}
        >
          <p>
            The saved state <bdi class="code">{deleted}</bdi> is deleted. What is there now stays as
            it is. This cannot be undone.
          </p>
        </FormDialog>
      )}
    </>
  );
}

interface SaveProps {
  readonly states: readonly SavedState[];
  readonly onClose: () => void;
}

function SaveDialog({ states, onClose }: SaveProps) {
  const notices = useNotices();
  const [name, setName] = useState("");
  const replaced = states.find((state) => state.name === name);
  return (
    <FormDialog
      title="Save the state"
      action={replaced === undefined ? "Save" : "Replace"}
      isDanger={replaced !== undefined}
      isDisabled={name === ""}
      onClose={onClose}
      onSubmit={async () => {
        const json = { name, replace: replaced !== undefined };
        await callApi("/api/state/save", { method: "POST", json });
        notices.show(`Saved the state as ${name}.`);
        onClose();
      }}
    >
      <TextField
        label="Name"
        hint="Letters, digits, dots, hyphens and underscores."
        value={name}
        onValue={setName}
      />
      <p role="status">
        {replaced !== undefined && (
          <>
            {name} exists, saved at <Time at={Date.parse(replaced.savedAt)} />. Replace it? What it
            has is lost.
          </>
        )}
      </p>
    </FormDialog>
  );
}
