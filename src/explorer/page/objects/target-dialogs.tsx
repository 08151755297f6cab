/** Asks where objects are copied or moved to, or for another name of one object. */
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import type { BucketSummary } from "../../api/buckets.ts";
import type { CopyTask, ObjectSelection } from "../../api/tasks.ts";
import { callApi, type ApiCallError } from "../api-client.ts";
import { Dialog } from "../frame/dialog.tsx";
import { useFetched } from "../frame/events.ts";
import { describeSelection } from "../frame/task-words.ts";
import {
  copyTarget,
  hasKeyTarget,
  lastSegment,
  parentFolder,
  renameTarget,
  type Target,
} from "./object-paths.ts";

interface TargetDialogProps {
  readonly selection: ObjectSelection;
  readonly onClose: () => void;
  /** @throws ApiCallError */
  readonly onStart: (task: CopyTask) => Promise<void>;
}

export function CopyDialog(props: TargetDialogProps & { readonly kind: CopyTask["kind"] }) {
  const { kind, selection, onClose, onStart } = props;
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

/** @param props.selection of one object */
export function RenameDialog({ selection, onClose, onStart }: TargetDialogProps) {
  const { bucket, keys } = selection;
  const [key = ""] = keys;
  const [typed, setTyped] = useState(lastSegment(key));
  return (
    <Dialog title="Rename 1 object" onClose={onClose}>
      <TargetForm
        label="Name"
        hint="A name with / moves the object into a folder below this folder."
        submitLabel="Rename"
        typed={typed}
        target={renameTarget(key, typed)}
        onType={setTyped}
        onClose={onClose}
        onSubmit={(renamed, overwrite) =>
          onStart({ ...selection, kind: "move", to: { bucket, key: renamed }, overwrite })
        }
      />
    </Dialog>
  );
}

interface TargetFormProps {
  readonly label: string;
  readonly hint: string;
  readonly submitLabel: string;
  readonly typed: string;
  readonly target: Target;
  readonly onType: (typed: string) => void;
  readonly onClose: () => void;
  /** @throws ApiCallError */
  readonly onSubmit: (key: string, overwrite: boolean) => Promise<void>;
  /** Fields before the target. */
  readonly children?: ComponentChildren;
}

function TargetForm(props: TargetFormProps) {
  const { label, hint, submitLabel, typed, target, onType, onClose, onSubmit } = props;
  const [overwrite, setOverwrite] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [isSending, setSending] = useState(false);
  // The first text is where the objects are: it is no mistake of the person.
  const [isTried, setTried] = useState(false);
  const [fieldId, hintId] = [useId(), useId()];
  const mistake = "problem" in target ? target.problem : undefined;
  const shownProblem = problem ?? (isTried ? mistake : undefined);
  const submit = (): void => {
    setTried(true);
    if (!("key" in target)) return;
    setSending(true);
    onSubmit(target.key, overwrite).then(onClose, (error: ApiCallError) => {
      setProblem(error.message);
      setSending(false);
    });
  };
  return (
    <form
      class="dialog-form"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {props.children}
      <div class="field">
        <label for={fieldId}>{label}</label>
        <input
          id={fieldId}
          autofocus
          onFocus={(event) => event.currentTarget.select()}
          class="input code"
          dir="auto"
          autocomplete="off"
          spellcheck={false}
          value={typed}
          aria-describedby={hintId}
          aria-invalid={shownProblem !== undefined}
          onInput={(event) => {
            setProblem(undefined);
            onType(event.currentTarget.value);
          }}
        />
        <p id={hintId} class="field-hint">
          {hint}
        </p>
        <p class="field-problem" role="alert">
          {shownProblem}
        </p>
      </div>
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
          {submitLabel}
        </button>
      </div>
    </form>
  );
}
