/**
 * The one form of a record, for new records and for records that exist. The content is one field, as in
 * a zone file: the server knows the types, and says what is wrong. A record that was changed after it
 * was opened is not overwritten: what was typed stays, and the new values can be loaded.
 */
import { useEffect, useState } from "preact/hooks";
import {
  unmodifiedHeader,
  type DnsRecord,
  type DnsZone,
  type RecordTypes,
} from "../../api/zones-api.ts";
import { useFetched } from "../frame/events.ts";
import { useNotices } from "../frame/notices.tsx";
import { draftOf, newDraft, recordRequest } from "./record-rules.ts";
import { CheckField, FormDialog, SelectField, TextField } from "../frame/form.tsx";
import { callDns } from "./zone-parts.tsx";

/** In the address, instead of the id of a record. */
export const newRecord = "new";

interface RecordDialogProps {
  readonly zone: DnsZone;
  /** The id of the record, or `newRecord`. */
  readonly id: string;
  readonly types: RecordTypes;
  readonly onClose: () => void;
  readonly onSaved: (record: DnsRecord) => void;
}

export function RecordDialog(props: RecordDialogProps) {
  const { zone, id, onClose } = props;
  const notices = useNotices();
  const { data: record, problem } = useFetched(
    async (signal) => (id === newRecord ? null : fetchRecord(zone.id, id, signal)),
    `record ${id}`,
  );
  useEffect(() => {
    if (problem === undefined) return;
    const missing = "Record not found: it was deleted, or the address has a mistake.";
    notices.show(problem.status === 404 ? missing : problem.message, { tone: "problem" });
    onClose();
  }, [problem]);
  return record === undefined ? null : <RecordForm {...props} opened={record} />;
}

async function fetchRecord(zone: string, id: string, signal?: AbortSignal): Promise<DnsRecord> {
  const path = ["zones", zone, "dns_records", id];
  return (await callDns<DnsRecord>(path, signal === undefined ? {} : { signal })).result;
}

function RecordForm(props: RecordDialogProps & { readonly opened: DnsRecord | null }) {
  const { zone, types, opened, onClose, onSaved } = props;
  /** What the draft was made of. */
  const [record, setRecord] = useState(opened);
  const [draft, setDraft] = useState(opened === null ? newDraft : draftOf(opened));
  const change = (part: Partial<typeof draft>): void => setDraft({ ...draft, ...part });
  const type = types.types.find((each) => each.type === draft.type) ?? types.types[0];
  const save = async (): Promise<void> => {
    const path = ["zones", zone.id, "dns_records", ...(record === null ? [] : [record.id])];
    const { result } = await callDns<DnsRecord>(path, {
      method: record === null ? "POST" : "PATCH",
      json: recordRequest(draft, type),
      ...(record !== null && { headers: { [unmodifiedHeader]: record.modified_on } }),
    });
    onSaved(result);
  };
  const text = (
    name: Exclude<keyof typeof draft, "proxied">,
    label: string,
    others: Partial<Parameters<typeof TextField>[0]> = {},
  ) => (
    <TextField
      label={label}
      value={draft[name]}
      onValue={(value) => change({ [name]: value })}
      {...others}
    />
  );
  const load = async (id: string): Promise<void> => {
    const current = await fetchRecord(zone.id, id);
    setRecord(current);
    setDraft(draftOf(current));
  };
  return (
    <FormDialog
      title={record === null ? "New record" : "Edit record"}
      action={record === null ? "Add record" : "Save"}
      onClose={onClose}
      onSubmit={save}
      remedy={(refusal, clear) =>
        refusal.status === 412 &&
        record !== null && (
          <button
            type="button"
            class="button"
            onClick={() => void load(record.id).then(clear, onClose)}
          >
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
        {text("name", "Name", { hint: `@ is ${zone.name}; www is www.${zone.name}` })}
      </div>
      {text("content", "Content", { hint: `Example: ${type?.example ?? ""}`, rows: 2 })}
      <div class="record-fields">
        {type?.hasPriority === true &&
          text("priority", "Priority", { hint: "The lowest is used first" })}
        {text("ttl", "TTL", {
          hint: `auto, or ${types.ttlSecondsMin} to ${types.ttlSecondsMax} seconds`,
          ...(draft.proxied && { value: "auto", isDisabled: true }),
        })}
        {text("tags", "Tags", { hint: "name:value, separated by commas" })}
      </div>
      {text("comment", "Comment")}
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
