/** Asks where objects are copied or moved to, or for another key of one object. */
import { useState } from "preact/hooks";
import type { BucketSummary } from "../../api/buckets.ts";
import type { CopyTask, ObjectSelection } from "../../api/tasks.ts";
import { callApi } from "../api-client.ts";
import { useFetched } from "../frame/events.ts";
import { CheckField, FormDialog, SelectField, TextField } from "../frame/form.tsx";
import { describeSelection } from "../frame/task-words.ts";
import { copyTarget, hasKeyTarget, parentFolder } from "./object-rows.ts";

/** A rename is a move to another key. */
export type TargetKind = CopyTask["kind"] | "rename";

const verbs: Readonly<Record<TargetKind, string>> = {
  copy: "Copy",
  move: "Move",
  rename: "Rename",
};

interface TargetDialogProps {
  readonly kind: TargetKind;
  readonly selection: ObjectSelection;
  readonly onClose: () => void;
  /** @throws ApiCallError */
  readonly onStart: (task: CopyTask) => Promise<void>;
}

export function TargetDialog({ kind, selection, onClose, onStart }: TargetDialogProps) {
  const [bucket, setBucket] = useState(selection.bucket);
  const [firstPath = ""] = [...selection.keys, ...selection.prefixes];
  const isKey = hasKeyTarget(selection);
  const [typed, setTyped] = useState(isKey ? firstPath : parentFolder(firstPath));
  const [overwrite, setOverwrite] = useState(false);
  const buckets = useFetched<readonly BucketSummary[]>(
    (signal) => callApi("/api/buckets", { signal }),
    "buckets",
  );
  const names = new Set([selection.bucket, ...(buckets.data ?? []).map(({ name }) => name)]);
  return (
    <FormDialog
      title={`${verbs[kind]} ${describeSelection(selection)}`}
      action={verbs[kind]}
      onClose={onClose}
      onSubmit={async () => {
        const to = { bucket, key: copyTarget(selection, typed) };
        await onStart({ ...selection, kind: kind === "copy" ? "copy" : "move", to, overwrite });
        onClose();
      }}
    >
      <TextField
        label={isKey ? "Key" : "Folder"}
        hint={
          isKey
            ? "A key that ends in / is a folder: the object keeps its name there."
            : "The names are appended to the folder. An empty folder is the top of the bucket."
        }
        value={typed}
        onValue={setTyped}
        // The name, which a person changes more often than the folder.
        onFocus={({ currentTarget: { value }, currentTarget: field }) =>
          field.setSelectionRange(parentFolder(value).length, value.length)
        }
      />
      {kind !== "rename" && (
        <SelectField label="Bucket" value={bucket} options={[...names]} onValue={setBucket} />
      )}
      <CheckField
        label="Overwrite objects that exist at the target"
        isChecked={overwrite}
        onChange={setOverwrite}
      />
    </FormDialog>
  );
}
