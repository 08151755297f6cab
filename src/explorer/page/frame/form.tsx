/** Forms: a dialog that sends what a person typed, and its fields. */
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import type { ApiCallError } from "../api-client.ts";
import { Dialog } from "./dialog.tsx";

interface FormDialogProps {
  readonly title: string;
  /** The label of the button that sends the form. */
  readonly action: string;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  readonly closeLabel?: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
  /** A refusal is shown, and the form stays as it is. */
  readonly onSubmit: () => Promise<void>;
  /** What can be done about a refusal; `clear` removes its message. */
  readonly remedy?: (refusal: ApiCallError, clear: () => void) => ComponentChildren;
}

export function FormDialog(props: FormDialogProps) {
  const { title, action, isDanger = false, isDisabled = false, children, onClose } = props;
  const [refusal, setRefusal] = useState<ApiCallError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = (): void => {
    setBusy(true);
    setRefusal(null);
    props
      .onSubmit()
      .catch((error: unknown) => setRefusal(error as ApiCallError))
      .finally(() => setBusy(false));
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="dialog-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy && !isDisabled) submit();
        }}
      >
        {children}
        {refusal !== null && (
          <div class="field-problem" role="alert">
            <p>{refusal.message}</p>
            {props.remedy?.(refusal, () => setRefusal(null))}
          </div>
        )}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {props.closeLabel ?? "Cancel"}
          </button>
          <button
            type="submit"
            class={`button ${isDanger ? "danger" : "primary"}`}
            disabled={isBusy || isDisabled}
          >
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  /** Two rows are for one line that may be long: Enter sends the form. With more rows, Ctrl+Enter does. */
  readonly rows?: number;
  readonly isDisabled?: boolean;
  readonly onValue: (value: string) => void;
  readonly onFocus?: (event: { readonly currentTarget: HTMLInputElement }) => void;
}

export function TextField(props: TextFieldProps) {
  const { label, hint, value, rows, isDisabled, onValue, onFocus } = props;
  const id = useId();
  const attributes = {
    id,
    class: "input code",
    dir: "auto" as const,
    autoComplete: "off",
    spellcheck: false,
    value,
    disabled: isDisabled === true,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      onValue(currentTarget.value),
    ...(hint !== undefined && { "aria-describedby": `${id}-hint` }),
  };
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      {rows === undefined ? (
        <input {...attributes} {...(onFocus && { onFocus })} />
      ) : (
        <textarea
          {...attributes}
          rows={rows}
          onKeyDown={(event) => {
            const isSent = rows <= 2 || event.ctrlKey || event.metaKey;
            if (event.key !== "Enter" || event.shiftKey || !isSent) return;
            event.preventDefault();
            event.currentTarget.form?.requestSubmit();
          }}
        />
      )}
      {hint !== undefined && (
        <p id={`${id}-hint`} class="field-hint">
          {hint}
        </p>
      )}
    </div>
  );
}

interface SelectFieldProps {
  readonly label: string;
  readonly value: string;
  /** A value that is its own label, or a value and its label. */
  readonly options: readonly (string | readonly [value: string, label: string])[];
  readonly onValue: (value: string) => void;
}

export function SelectField({ label, value, options, onValue }: SelectFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        class="input"
        value={value}
        onChange={(event) => onValue(event.currentTarget.value)}
      >
        {options.map((option) => {
          const [name, text] = typeof option === "string" ? [option, option] : option;
          return (
            <option key={name} value={name}>
              {text}
            </option>
          );
        })}
      </select>
    </div>
  );
}

interface CheckFieldProps {
  readonly label: string;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

export function CheckField({ label, isChecked, onChange }: CheckFieldProps) {
  return (
    <label class="check-field">
      <input
        type="checkbox"
        checked={isChecked}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      {label}
    </label>
  );
}
