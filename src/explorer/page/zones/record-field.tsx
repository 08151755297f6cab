/** A field of the form of a record, with its hint and the messages of the rules. */
import type { DnsProblem } from "../../api/zones-api.ts";
import { ProblemLines } from "./problem-lines.tsx";
import type { FieldChoice, RecordField } from "./record-forms.ts";

interface FormFieldProps {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
  readonly example: string;
  readonly kind?: RecordField["kind"];
  readonly choices?: readonly FieldChoice[];
  readonly value: string;
  readonly isDisabled?: boolean;
  readonly problems: readonly DnsProblem[];
  readonly onValue: (text: string) => void;
}

export function FormField(props: FormFieldProps) {
  const { id, label, hint, example, kind = "text", choices = [], value, problems } = props;
  const { isDisabled = false, onValue } = props;
  const described = [
    ...(hint === undefined ? [] : [`${id}-hint`]),
    ...(problems.length === 0 ? [] : [`${id}-problem`]),
  ].join(" ");
  const common = {
    id,
    value,
    disabled: isDisabled,
    "aria-invalid": problems.length > 0,
    ...(described !== "" && { "aria-describedby": described }),
  };
  const typed = {
    ...common,
    class: "input code",
    placeholder: example.length > 64 ? `${example.slice(0, 24)}…` : example,
    autoComplete: "off",
    spellcheck: false,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      onValue(event.currentTarget.value),
  };
  return (
    <div class={`field ${kind}`}>
      <label htmlFor={id}>{label}</label>
      {kind === "choice" ? (
        <select {...common} class="input" onChange={(event) => onValue(event.currentTarget.value)}>
          {/* A record may have a value that the list does not know. */}
          {!choices.some((choice) => choice.value === value) && (
            <option value={value}>{value}</option>
          )}
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      ) : kind === "long" ? (
        <textarea {...typed} rows={3} />
      ) : (
        <input {...typed} {...(kind === "number" && { inputMode: "decimal" as const })} />
      )}
      {hint !== undefined && (
        <p id={`${id}-hint`} class="zones-hint">
          {hint}
        </p>
      )}
      {problems.length > 0 && <ProblemLines problems={problems} id={`${id}-problem`} />}
    </div>
  );
}
