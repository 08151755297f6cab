/** The form of a target: a key or a folder, what becomes of it, and whether objects are overwritten. */
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import type { ApiCallError } from "../api-client.ts";
import type { Target } from "../objects/copy-target.ts";

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

export function TargetForm(props: TargetFormProps) {
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
      class="target-form"
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
