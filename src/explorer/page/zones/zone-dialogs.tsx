/** Creates a zone, deletes a zone after its name was typed, and imports a zone file. */
import { useState } from "preact/hooks";
import type { DnsZone, ImportCounts } from "../../api/zones-api.ts";
import { formatCount } from "../frame/format.ts";
import { CheckField, FormDialog, TextField } from "../frame/form.tsx";
import { callDns } from "./zone-parts.tsx";

interface CreateZoneProps {
  readonly onClose: () => void;
  readonly onCreated: (zone: DnsZone) => void;
}

export function CreateZoneDialog({ onClose, onCreated }: CreateZoneProps) {
  const [name, setName] = useState("");
  return (
    <FormDialog
      title="New zone"
      action="Create zone"
      isDisabled={name.trim() === ""}
      onClose={onClose}
      onSubmit={async () => {
        const json = { name: name.trim() };
        onCreated((await callDns<DnsZone>(["zones"], { method: "POST", json })).result);
      }}
    >
      <TextField
        label="Name"
        hint="A domain name such as example.com. The zone exists on this machine only."
        value={name}
        onValue={setName}
      />
    </FormDialog>
  );
}

interface DeleteZoneProps {
  readonly zone: DnsZone;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

export function DeleteZoneDialog({ zone, onClose, onDeleted }: DeleteZoneProps) {
  const [typed, setTyped] = useState("");
  return (
    <FormDialog
      title="Delete zone"
      action="Delete zone"
      isDanger
      isDisabled={typed.trim() !== zone.name}
      onClose={onClose}
      onSubmit={async () => {
        await callDns(["zones", zone.id], { method: "DELETE" });
        onDeleted();
      }}
    >
      <p>
        This deletes <bdi class="code">{zone.name}</bdi> with all its records. It cannot be undone:
        export the zone first if you need its records.
      </p>
      <TextField label="Type the name of the zone" value={typed} onValue={setTyped} />
    </FormDialog>
  );
}

interface ImportProps {
  readonly zone: DnsZone;
  readonly onClose: () => void;
  readonly onImported: () => void;
}

/** All records of the file are imported, or none. */
export function ImportDialog({ zone, onClose, onImported }: ImportProps) {
  const [text, setText] = useState("");
  const [isProxied, setProxied] = useState(false);
  const [outcome, setOutcome] = useState<readonly string[]>([]);
  const submit = async (): Promise<void> => {
    setOutcome([]);
    const form = new FormData();
    form.set("file", new Blob([text]), "zone");
    form.set("proxied", String(isProxied));
    const path = ["zones", zone.id, "dns_records", "import"];
    const options = { method: "POST", body: form };
    const { result, messages } = await callDns<ImportCounts>(path, options);
    setOutcome([importSentence(result), ...messages.map(({ message }) => message)]);
    onImported();
  };
  return (
    <FormDialog
      title={`Import into ${zone.name}`}
      action="Import"
      isDisabled={text.trim() === ""}
      {...(outcome.length > 0 && { closeLabel: "Close" })}
      onClose={onClose}
      onSubmit={submit}
      remedy={() => <p>Nothing was imported.</p>}
    >
      <div class="field">
        <label htmlFor="import-file">Zone file</label>
        <input
          id="import-file"
          type="file"
          onChange={(event) => {
            const [file] = event.currentTarget.files ?? [];
            if (file !== undefined) void file.text().then(setText);
          }}
        />
      </div>
      <TextField
        label="Or its text"
        hint="A line for each record, such as: www 300 IN A 192.0.2.1"
        rows={8}
        value={text}
        onValue={setText}
      />
      <CheckField
        label="Proxied, for the types that can be"
        isChecked={isProxied}
        onChange={setProxied}
      />
      {outcome.length > 0 && (
        <div class="import-outcome" role="status">
          {outcome.map((sentence, index) => (
            <p key={index}>{sentence}</p>
          ))}
        </div>
      )}
    </FormDialog>
  );
}

function importSentence({ recs_added: added, total_records_parsed: parsed }: ImportCounts): string {
  const others = " The others exist already, or are the name servers of every zone.";
  const sentence = `${formatCount(added)} of ${formatCount(parsed)} records were added.`;
  return added < parsed ? sentence + others : sentence;
}
