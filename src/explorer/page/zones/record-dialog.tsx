/**
 * The one form of a record, for new records and for records that exist. The content is one field, as in
 * a zone file: the server knows the types, and says what is wrong. A record that was changed after it
 * was opened is not overwritten: what was typed stays, until the person loads the new values.
 */
import { useState } from "preact/hooks";
import {
  unmodifiedHeader,
  type DnsRecord,
  type DnsZone,
  type RecordTypes,
} from "../../api/zones-api.ts";
import { Dialog } from "../frame/dialog.tsx";
import { useFetched } from "../frame/events.ts";
import { CheckField, FormDialog, SelectField, TextField } from "../frame/form.tsx";
import { Problem } from "../frame/parts.tsx";
import { draftOf, newDraft, recordRequest } from "./record-rules.ts";
import { callDns, fetchRecordTypes } from "./zone-parts.tsx";

/** In the address, instead of the id of a record. */
export const newRecord = "new";

interface RecordDialogProps {
  readonly zone: DnsZone;
  /** The id of the record, or `newRecord`. */
  readonly id: string;
  readonly onClose: () => void;
  readonly onSaved: (record: DnsRecord) => void;
}

export function RecordDialog(props: RecordDialogProps) {
  const { zone, id, onClose } = props;
  const isNew = id === newRecord;
  const title = isNew ? "New record" : "Edit record";
  const path = `zones/${zone.id}/dns_records${isNew ? "" : `/${encodeURIComponent(id)}`}`;
  const { data, problem, reload } = useFetched(
    async (signal) => ({
      types: await fetchRecordTypes(signal),
      record: isNew ? null : (await callDns<DnsRecord>(path, { signal })).result,
    }),
    path,
  );
  if (problem !== undefined) {
    return (
      <Dialog title={title} onClose={onClose}>
        <Problem problem={problem} onRetry={reload} />
      </Dialog>
    );
  }
  if (data === undefined) return null;
  return (
    <RecordForm
      // Values that were loaded again make another form.
      key={data.record?.modified_on}
      {...{ ...props, ...data, title, path }}
      onReload={reload}
    />
  );
}

interface RecordFormProps extends RecordDialogProps {
  readonly title: string;
  readonly path: string;
  readonly types: RecordTypes;
  readonly record: DnsRecord | null;
  readonly onReload: () => void;
}

function RecordForm(props: RecordFormProps) {
  const { zone, path, types, record } = props;
  const [draft, setDraft] = useState(record === null ? newDraft : draftOf(record));
  const change = (part: Partial<typeof draft>): void => setDraft({ ...draft, ...part });
  const type = types.types.find((each) => each.type === draft.type);
  const save = async (): Promise<void> => {
    const { result } = await callDns<DnsRecord>(path, {
      method: record === null ? "POST" : "PATCH",
      json: recordRequest(draft, type),
      ...(record !== null && { headers: { [unmodifiedHeader]: record.modified_on } }),
    });
    props.onSaved(result);
  };
  const text = (name: Exclude<keyof typeof draft, "proxied">, label: string, hint?: string) => ({
    label,
    value: draft[name],
    onValue: (value: string) => change({ [name]: value }),
    ...(hint !== undefined && { hint }),
  });
  return (
    <FormDialog
      title={props.title}
      action={record === null ? "Add record" : "Save"}
      onClose={props.onClose}
      onSubmit={save}
      remedy={({ status }) =>
        status === 412 && (
          <button type="button" class="button" onClick={props.onReload}>
            Load the new values
          </button>
        )
      }
    >
      <div class="record-fields">
        <SelectField
          label="Type"
          value={draft.type}
          options={types.types.map((each) => each.type)}
          onValue={(chosen) => change({ type: chosen })}
        />
        <TextField {...text("name", "Name", `@ is ${zone.name}; www is www.${zone.name}`)} />
      </div>
      <TextField {...text("content", "Content", `Example: ${type?.example ?? ""}`)} rows={2} />
      <div class="record-fields">
        {type?.hasPriority === true && (
          <TextField {...text("priority", "Priority", "The lowest is used first")} />
        )}
        <TextField
          {...text(
            "ttl",
            "TTL",
            `auto, or ${types.ttlSecondsMin} to ${types.ttlSecondsMax} seconds`,
          )}
          {...(type?.isProxiable === true && draft.proxied && { value: "auto", isDisabled: true })}
        />
        <TextField {...text("tags", "Tags", "name:value, separated by commas")} />
      </div>
      <TextField {...text("comment", "Comment")} />
      {type?.isProxiable === true && (
        <CheckField
          label="Proxied: answers have the platform's addresses"
          isChecked={draft.proxied}
          onChange={(proxied) => change({ proxied })}
        />
      )}
    </FormDialog>
  );
}
