/** The form of a record: for a new record, and for all fields of a record that exists. */
import { useState } from "preact/hooks";
import type { DnsProblem, DnsRecord, DnsZone } from "../../api/zones-api.ts";
import { Dialog } from "../parts/dialog.tsx";
import { callDns, dnsPath } from "./dns-calls.ts";
import { ProblemLines } from "./problem-lines.tsx";
import { FormField } from "./record-field.tsx";
import { recordForm, recordForms, type RecordForm } from "./record-forms.ts";
import { newValues, problemField, recordRequest, valuesOf } from "./record-values.ts";
import { writeInZone } from "./record-writes.ts";
import { useSubmission } from "./zone-dialogs.tsx";

interface RecordDialogProps {
  readonly zone: DnsZone;
  /** `null` for a new record. */
  readonly record: DnsRecord | null;
  readonly onClose: () => void;
  readonly onSaved: (record: DnsRecord) => void;
}

export function RecordDialog({ zone, record, onClose, onSaved }: RecordDialogProps) {
  const [type, setType] = useState(record?.type ?? "A");
  const form = recordForm(type) as RecordForm;
  const [values, setValues] = useState(() =>
    record === null ? newValues(form) : valuesOf(record),
  );
  const { problems, isBusy, run } = useSubmission();
  const change = (part: Partial<typeof values>): void => setValues({ ...values, ...part });
  const problemsAt = (field: string | null): readonly DnsProblem[] =>
    problems.filter((problem) => problemField(problem, form) === field);

  const submit = (): void =>
    run(async () => {
      const path = ["zones", zone.id, "dns_records", ...(record === null ? [] : [record.id])];
      const options = {
        method: record === null ? "POST" : "PATCH",
        json: recordRequest(form, values),
      };
      const { result } = await writeInZone(zone.id, () =>
        callDns<DnsRecord>(dnsPath(...path), options),
      );
      onSaved(result);
    });
  const chooseType = (next: string): void => {
    const fields = newValues(recordForm(next) as RecordForm).fields;
    setType(next);
    // What was typed stays where the new type has the same field.
    setValues({ ...values, fields: { ...fields, ...pick(values.fields, Object.keys(fields)) } });
  };

  return (
    <Dialog title={record === null ? "New record" : `Edit ${record.type} record`} onClose={onClose}>
      <form
        class="zones-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        {record === null && (
          <div class="field">
            <label htmlFor="record-type">Type</label>
            <select
              id="record-type"
              class="input"
              autoFocus
              value={type}
              onChange={(event) => chooseType(event.currentTarget.value)}
            >
              {recordForms.map((each) => (
                <option key={each.type} value={each.type}>
                  {each.type} – {each.summary}
                </option>
              ))}
            </select>
          </div>
        )}
        <FormField
          id="record-name"
          label="Name"
          hint={`@ is ${zone.name}; www is www.${zone.name}`}
          example={form.nameExample ?? "www"}
          value={values.name}
          problems={problemsAt("name")}
          onValue={(name) => change({ name })}
        />
        <div class="record-fields">
          {form.fields.map((field) => (
            <FormField
              key={field.name}
              id={`record-field-${field.name}`}
              {...field}
              value={values.fields[field.name] ?? ""}
              problems={problemsAt(field.name)}
              onValue={(text) => change({ fields: { ...values.fields, [field.name]: text } })}
            />
          ))}
        </div>
        {form.isProxiable === true && (
          <div class="field">
            <label class="zones-check">
              <input
                type="checkbox"
                checked={values.proxied}
                onChange={(event) => change({ proxied: event.currentTarget.checked })}
              />
              Proxied: answers have the platform's addresses
            </label>
            {problemsAt("proxied").length > 0 && <ProblemLines problems={problemsAt("proxied")} />}
          </div>
        )}
        <div class="record-fields">
          <FormField
            id="record-ttl"
            label="TTL"
            hint="auto, or 60 to 86400 seconds"
            example="auto"
            value={values.proxied ? "auto" : values.ttl}
            isDisabled={values.proxied}
            problems={problemsAt("ttl")}
            onValue={(ttl) => change({ ttl })}
          />
          <FormField
            id="record-tags"
            label="Tags"
            hint="name:value, separated by commas"
            example="team:web"
            value={values.tags}
            problems={problemsAt("tags")}
            onValue={(tags) => change({ tags })}
          />
        </div>
        <FormField
          id="record-comment"
          label="Comment"
          example="For people; not served"
          value={values.comment}
          problems={problemsAt("comment")}
          onValue={(comment) => change({ comment })}
        />
        {problemsAt(null).length > 0 && <ProblemLines problems={problemsAt(null)} />}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={isBusy}>
            {isBusy ? "Saving…" : record === null ? "Add record" : "Save"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function pick(values: Readonly<Record<string, string>>, names: readonly string[]) {
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => names.includes(name) && value !== ""),
  );
}
