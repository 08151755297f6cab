/** The faults of DNS queries: those in force, and a form for another. */
import { useState } from "preact/hooks";
import type { ConditionsState } from "../../api/conditions.ts";
import { addFault, removeFault } from "./condition-changes.ts";
import {
  dnsFaultKinds,
  firstDnsFault,
  readDnsFault,
  writeDnsFault,
  type DnsFaultForm,
} from "./dns-fault-form.ts";
import { FaultForm, SelectField, TextField, TimingFields } from "./fault-fields.tsx";
import { FaultList } from "./fault-list.tsx";
import { useChange } from "./use-change.ts";
import type { UsedConditions } from "./use-conditions.ts";

const kindChoices = Object.entries(dnsFaultKinds).map(([value, { label }]) => ({ value, label }));
const typeChoices = [
  { value: "", label: "All types" },
  ...["A", "AAAA", "CAA", "CNAME", "HTTPS", "MX", "NS", "PTR", "SOA", "SRV", "TXT"].map((type) => ({
    value: type,
    label: type,
  })),
];

interface DnsFaultsProps {
  readonly state: ConditionsState;
  readonly change: UsedConditions["change"];
}

export function DnsFaults({ state, change }: DnsFaultsProps) {
  const [form, setForm] = useState(firstDnsFault);
  const [text, setText] = useState(() => writeDnsFault(firstDnsFault));
  const { refusal, isChanging, make } = useChange(change);
  const edit = (part: Partial<DnsFaultForm>): void => {
    const next = { ...form, ...part };
    setForm(next);
    setText(writeDnsFault(next));
  };
  const write = (next: string): void => {
    setText(next);
    setForm(readDnsFault(next) ?? form);
  };
  const kind = dnsFaultKinds[form.kind];
  const isShown = writeDnsFault(form) === text || readDnsFault(text) !== null;
  return (
    <section class="conditions-section panel" aria-labelledby="dns-faults">
      <h2 id="dns-faults">DNS faults</h2>
      <FaultList
        label="DNS faults in force"
        faults={state.dnsFaults}
        hits={state.hits}
        onRemove={(fault) => void make(removeFault(fault))}
      />
      <FaultForm
        text={text}
        refusal={refusal}
        hint={
          isShown ? null : "The fields above cannot show this text. The server checks the text."
        }
        isChanging={isChanging}
        onText={write}
        onSubmit={() => void make(addFault(text.trim()))}
      >
        <SelectField
          label="The name server"
          value={form.kind}
          choices={kindChoices}
          onChange={(next) => edit({ kind: next })}
        />
        {kind?.hasTime === true && (
          <TextField
            label="By"
            value={form.by}
            placeholder="2s, 500ms"
            onChange={(by) => edit({ by })}
          />
        )}
        <TextField
          label={kind?.isOfZone === true ? "Zone (* is every zone)" : "Name (* is any text)"}
          value={form.name}
          placeholder="www.example.com"
          onChange={(name) => edit({ name })}
        />
        {kind?.hasNoType !== true && (
          <SelectField
            label="Type"
            value={form.type}
            choices={typeChoices}
            onChange={(type) => edit({ type })}
          />
        )}
        <TimingFields timing={form.timing} onChange={(timing) => edit({ timing })} />
      </FaultForm>
    </section>
  );
}
