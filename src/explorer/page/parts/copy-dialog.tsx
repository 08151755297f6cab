/** Asks where objects are copied or moved to. */
import { useState } from "preact/hooks";
import type { BucketSummary } from "../../api/buckets.ts";
import type { CopyTask, ObjectSelection } from "../../api/tasks.ts";
import { callApi } from "../api-client.ts";
import { copyTarget, hasKeyTarget } from "../objects/copy-target.ts";
import { parentFolder } from "../objects/folder-path.ts";
import { describeSelection } from "../frame/task-words.ts";
import { useFetched } from "../state/use-fetched.ts";
import { Dialog } from "./dialog.tsx";
import { TargetForm } from "./target-form.tsx";

interface CopyDialogProps {
  readonly kind: CopyTask["kind"];
  readonly selection: ObjectSelection;
  readonly onClose: () => void;
  /** @throws ApiCallError */
  readonly onStart: (task: CopyTask) => Promise<void>;
}

export function CopyDialog({ kind, selection, onClose, onStart }: CopyDialogProps) {
  const [bucket, setBucket] = useState(selection.bucket);
  const [firstPath = ""] = [...selection.keys, ...selection.prefixes];
  const isKey = hasKeyTarget(selection);
  const [typed, setTyped] = useState(isKey ? firstPath : parentFolder(firstPath));
  const buckets = useFetched<readonly BucketSummary[]>(
    (signal) => callApi("/api/buckets", { signal }),
    "buckets",
  );
  const names = new Set([selection.bucket, ...(buckets.data ?? []).map(({ name }) => name)]);
  const verb = kind === "copy" ? "Copy" : "Move";
  return (
    <Dialog title={`${verb} ${describeSelection(selection)}`} onClose={onClose}>
      <TargetForm
        label={isKey ? "Key" : "Folder"}
        hint={
          isKey
            ? "A key that ends in / is a folder: the object keeps its name there."
            : "The names are appended to the folder. An empty folder is the top of the bucket."
        }
        submitLabel={verb}
        typed={typed}
        target={copyTarget(selection, { bucket, typed })}
        onType={setTyped}
        onClose={onClose}
        onSubmit={(key, overwrite) =>
          onStart({ ...selection, kind, to: { bucket, key }, overwrite })
        }
      >
        <div class="field">
          <label for="target-bucket">Bucket</label>
          <select
            id="target-bucket"
            class="input"
            value={bucket}
            onChange={(event) => setBucket(event.currentTarget.value)}
          >
            {Array.from(names, (name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </div>
      </TargetForm>
    </Dialog>
  );
}
