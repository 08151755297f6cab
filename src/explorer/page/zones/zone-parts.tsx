/** What the views of zones share: calls of the record API, dialogs with a form, a project without DNS. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { DnsEnvelope, RecordTypes } from "../../api/zones-api.ts";
import { callApi, type ApiCallError, type CallOptions } from "../api-client.ts";
import { Dialog } from "../frame/dialog.tsx";
import { Empty, Problem } from "../frame/parts.tsx";

/**
 * @param segments the path of the record API
 * @throws ApiCallError, or the reason of an aborted signal
 */
export function callDns<Result>(
  segments: readonly string[],
  options: CallOptions = {},
): Promise<DnsEnvelope<Result>> {
  return callApi(dnsPath(segments), options);
}

export function dnsPath(segments: readonly string[]): string {
  return `/api/dns/${segments.map((segment) => encodeURIComponent(segment)).join("/")}`;
}

export function fetchRecordTypes(signal: AbortSignal): Promise<RecordTypes> {
  return callApi("/api/record-types", { signal });
}

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
        class="zones-form"
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
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly rows?: number;
  readonly isDisabled?: boolean;
  readonly onValue: (value: string) => void;
}

export function TextField({ id, label, hint, value, rows, isDisabled, onValue }: TextFieldProps) {
  const attributes = {
    id,
    class: "input code",
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
      {rows === undefined ? <input {...attributes} /> : <textarea {...attributes} rows={rows} />}
      {hint !== undefined && (
        <p id={`${id}-hint`} class="zones-hint">
          {hint}
        </p>
      )}
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
    <label class="zones-check">
      <input
        type="checkbox"
        checked={isChecked}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      {label}
    </label>
  );
}

/** A project without DNS: the server says so with 409. */
const noDnsStatus = 409;

export function DnsProblemState({
  problem,
  onRetry,
}: {
  readonly problem: ApiCallError;
  readonly onRetry: () => void;
}) {
  if (problem.status !== noDnsStatus) return <Problem problem={problem} onRetry={onRetry} />;
  return (
    <Empty title="This project has no DNS">
      <p>Add a table to the configuration, and start the command again:</p>
      <ZonesExample />
    </Empty>
  );
}

export function ZonesExample() {
  return <pre class="panel zones-example">{`[dns]\nzones = [{ name = "example.com" }]`}</pre>;
}
