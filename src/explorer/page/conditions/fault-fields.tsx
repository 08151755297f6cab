/** Fields that the forms of faults share. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { timingDefaults, type FaultTimingForm, type TimingKind } from "./fault-timing.ts";

interface Choice {
  readonly value: string;
  readonly label: string;
}

interface SelectFieldProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly Choice[];
  readonly onChange: (value: string) => void;
}

export function SelectField({ label, value, choices, onChange }: SelectFieldProps) {
  const id = useId();
  // A text may have a value that the form does not offer.
  const all = choices.some((choice) => choice.value === value)
    ? choices
    : [...choices, { value, label: value }];
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        class="input"
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {all.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </div>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly placeholder?: string;
  readonly onChange: (value: string) => void;
}

export function TextField({ label, value, placeholder = "", onChange }: TextFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        class="input"
        value={value}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </div>
  );
}

const timingLabels: Readonly<Record<TimingKind, string>> = {
  always: "Always",
  times: "The first … times",
  nth: "Only the time number …",
  probability: "With a probability",
};
const timingValueLabels: Readonly<Record<TimingKind, string>> = {
  always: "",
  times: "Times",
  nth: "Number",
  probability: "From 0 to 1",
};
const timingChoices = Object.entries(timingLabels).map(([value, label]) => ({ value, label }));

export function TimingFields({
  timing,
  onChange,
}: {
  readonly timing: FaultTimingForm;
  readonly onChange: (timing: FaultTimingForm) => void;
}) {
  const { kind, value } = timing;
  return (
    <>
      <SelectField
        label="How often"
        value={kind}
        choices={timingChoices}
        onChange={(next) =>
          onChange({ kind: next as TimingKind, value: timingDefaults[next as TimingKind] })
        }
      />
      {kind !== "always" && (
        <TextField
          label={timingValueLabels[kind]}
          value={value}
          onChange={(next) => onChange({ kind, value: next })}
        />
      )}
    </>
  );
}

interface FaultTextProps {
  readonly text: string;
  readonly refusal: string | null;
  /** Why the fields above do not show the text, or `null`. */
  readonly hint: string | null;
  readonly isChanging: boolean;
  readonly onText: (text: string) => void;
  readonly onSubmit: () => void;
  readonly children: ComponentChildren;
}

/** A form whose fields and whose text are the same fault: a change of one changes the other. */
export function FaultForm(props: FaultTextProps) {
  const { text, refusal, hint, isChanging, onText, onSubmit, children } = props;
  const id = useId();
  return (
    <form
      class="fault-form"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <div class="fault-fields">{children}</div>
      <div class="field">
        <label for={id}>The fault as text, as after --fault</label>
        <div class="fault-submit">
          <input
            id={id}
            class="input code"
            value={text}
            dir="ltr"
            autocomplete="off"
            spellcheck={false}
            aria-invalid={refusal !== null}
            aria-describedby={`${id}-problem`}
            onInput={(event) => onText(event.currentTarget.value)}
          />
          <button type="submit" class="button primary" disabled={isChanging || text === ""}>
            Switch on
          </button>
        </div>
        <p
          id={`${id}-problem`}
          class={refusal === null ? "fault-hint" : "field-problem"}
          role="status"
        >
          {refusal ?? hint}
        </p>
      </div>
    </form>
  );
}
