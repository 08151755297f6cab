/** Asks where objects are copied or moved to, or for another key of one object. */
import { useId, useState } from "preact/hooks";
import type { BucketSummary } from "../../api/buckets.ts";
import type { CopyTask, ObjectSelection } from "../../api/tasks.ts";
import { callApi, type ApiCallError } from "../api-client.ts";
import { Dialog } from "../frame/dialog.tsx";
import { useFetched } from "../frame/events.ts";
import { describeSelection } from "../frame/task-words.ts";
import { copyTarget, hasKeyTarget, parentFolder } from "./object-paths.ts";

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
  const [problem, setProblem] = useState<string>();
  const [isSending, setSending] = useState(false);
  const id = useId();
  const buckets = useFetched<readonly BucketSummary[]>(
    (signal) => callApi("/api/buckets", { signal }),
    "buckets",
  );
  const names = new Set([selection.bucket, ...(buckets.data ?? []).map(({ name }) => name)]);
  const submit = (): void => {
    const target = copyTarget(selection, { bucket, typed });
    if ("problem" in target) {
      setProblem(target.problem);
      return;
    }
    setSending(true);
    const to = { bucket, key: target.key };
    onStart({ ...selection, kind: kind === "copy" ? "copy" : "move", to, overwrite }).then(
      onClose,
      (error: ApiCallError) => {
        setProblem(error.message);
        setSending(false);
      },
    );
  };
  return (
    <Dialog title={`${verbs[kind]} ${describeSelection(selection)}`} onClose={onClose}>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <div class="field">
          <label for={`${id}-path`}>{isKey ? "Key" : "Folder"}</label>
          <input
            id={`${id}-path`}
            // The name, which a person changes more often than the folder.
            onFocus={({ currentTarget: { value }, currentTarget: field }) =>
              field.setSelectionRange(parentFolder(value).length, value.length)
            }
            class="input code"
            dir="auto"
            autocomplete="off"
            spellcheck={false}
            value={typed}
            aria-describedby={`${id}-hint`}
            aria-invalid={problem !== undefined}
            onInput={(event) => {
              setProblem(undefined);
              setTyped(event.currentTarget.value);
            }}
          />
          <p id={`${id}-hint`} class="field-hint">
            {isKey
              ? "A key that ends in / is a folder: the object keeps its name there."
              : "The names are appended to the folder. An empty folder is the top of the bucket."}
          </p>
          <p class="field-problem" role="alert">
            {problem}
          </p>
        </div>
        {kind !== "rename" && (
          <div class="field">
            <label for={`${id}-bucket`}>Bucket</label>
            <select
              id={`${id}-bucket`}
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
        )}
        <label class="check-field">
          <input
            type="checkbox"
            checked={overwrite}
            onChange={(event) => setOverwrite(event.currentTarget.checked)}
          />
          Overwrite objects that exist at the target
        </label>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={isSending}>
            {verbs[kind]}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
