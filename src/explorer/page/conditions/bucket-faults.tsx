/** The faults of buckets: those in force, and a form for another. */
import { useState } from "preact/hooks";
import type { BucketSummary } from "../../api/buckets.ts";
import type { ConditionsState } from "../../api/conditions.ts";
import { callApi } from "../api-client.ts";
import { useFetched } from "../state/use-fetched.ts";
import {
  errorChoices,
  firstBucketFault,
  methodChoices,
  readBucketFault,
  writeBucketFault,
  type BucketFaultForm,
} from "./bucket-fault-form.ts";
import { addFault, removeFault } from "./condition-changes.ts";
import { FaultForm, SelectField, TextField, TimingFields } from "./fault-fields.tsx";
import { FaultList } from "./fault-list.tsx";
import { useChange } from "./use-change.ts";
import type { UsedConditions } from "./use-conditions.ts";

const effectChoices = [
  { value: "fail", label: "Fails with an error" },
  { value: "slow", label: "Takes longer" },
  { value: "drop", label: "Loses its connection" },
];
const whenChoices = [
  { value: "before", label: "Before the call is executed" },
  { value: "after", label: "After the call is executed" },
];

interface BucketFaultsProps {
  readonly state: ConditionsState;
  readonly change: UsedConditions["change"];
}

export function BucketFaults({ state, change }: BucketFaultsProps) {
  const [form, setForm] = useState(firstBucketFault);
  const [text, setText] = useState(() => writeBucketFault(firstBucketFault));
  const { refusal, isChanging, make } = useChange(change);
  const buckets = useFetched<readonly BucketSummary[]>(
    (signal) => callApi("/api/buckets", { signal }),
    "buckets",
  );
  const bucketChoices = [
    { value: "*", label: "All buckets" },
    ...(buckets.data ?? [])
      .filter(({ remote }) => remote === null)
      .map(({ name }) => ({ value: name, label: name })),
  ];
  const remotes = (buckets.data ?? []).filter(({ remote }) => remote !== null);
  const edit = (part: Partial<BucketFaultForm>): void => {
    const next = { ...form, ...part };
    setForm(next);
    setText(writeBucketFault(next));
  };
  const write = (next: string): void => {
    setText(next);
    setForm(readBucketFault(next) ?? form);
  };
  const isShown = writeBucketFault(form) === text || readBucketFault(text) !== null;
  return (
    <section class="conditions-section panel" aria-labelledby="bucket-faults">
      <h2 id="bucket-faults">Bucket faults</h2>
      {remotes.length > 0 && (
        <p class="conditions-explanation">
          Faults, latency and the clock are those of the store in the state folder. Calls of{" "}
          {remotes.map(({ name }) => name).join(", ")} go to an S3 service, and have no conditions.
        </p>
      )}
      <FaultList
        label="Bucket faults in force"
        faults={state.bucketFaults}
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
          label="Method"
          value={form.methods}
          choices={methodChoices}
          onChange={(methods) => edit({ methods })}
        />
        <SelectField
          label="Bucket"
          value={form.bucket}
          choices={bucketChoices}
          onChange={(bucket) => edit({ bucket })}
        />
        <TextField
          label="Keys (* is any text)"
          value={form.key}
          placeholder="all keys"
          onChange={(key) => edit({ key })}
        />
        <SelectField
          label="What happens"
          value={form.effect}
          choices={effectChoices}
          onChange={(effect) => edit({ effect: effect as BucketFaultForm["effect"] })}
        />
        {form.effect === "fail" && (
          <SelectField
            label="Error"
            value={form.code}
            choices={errorChoices}
            onChange={(code) => edit({ code })}
          />
        )}
        {form.effect === "slow" && (
          <TextField
            label="Longer by"
            value={form.by}
            placeholder="2s, 500ms"
            onChange={(by) => edit({ by })}
          />
        )}
        {form.effect !== "slow" && (
          <SelectField
            label="When"
            value={form.isAfter ? "after" : "before"}
            choices={whenChoices}
            onChange={(when) => edit({ isAfter: when === "after" })}
          />
        )}
        <TimingFields timing={form.timing} onChange={(timing) => edit({ timing })} />
      </FaultForm>
    </section>
  );
}
