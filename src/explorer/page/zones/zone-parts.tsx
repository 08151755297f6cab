/** What the views of zones share: calls of the record API, a project without DNS, dialogs of a zone. */
import { useState } from "preact/hooks";
import type { DnsEnvelope, DnsZone, ImportCounts, RecordTypes } from "../../api/zones-api.ts";
import { callApi, type ApiCallError, type CallOptions } from "../api-client.ts";
import { CheckField, FormDialog, TextField } from "../frame/form.tsx";
import { countedNoun, formatCount } from "../frame/format.ts";
import { Empty, Problem } from "../frame/parts.tsx";

/** @param path of the record API, from `zones` on @throws ApiCallError, or the reason of an aborted signal */
export function callDns<Result>(path: string, options?: CallOptions): Promise<DnsEnvelope<Result>> {
  return callApi(`/api/dns/${path}`, options);
}

/** All zones by name: as many as the record API lists at once. */
export async function fetchZones(signal: AbortSignal): Promise<readonly DnsZone[]> {
  const query = { per_page: 1000, order: "name" };
  return (await callDns<DnsZone[]>("zones", { query, signal })).result;
}

export function fetchRecordTypes(signal: AbortSignal): Promise<RecordTypes> {
  return callApi("/api/record-types", { signal });
}

interface DnsProblemProps {
  readonly problem: ApiCallError;
  readonly onRetry: () => void;
}

/** The server says with 409 that the project has no DNS. */
export function DnsProblem({ problem, onRetry }: DnsProblemProps) {
  if (problem.status !== 409) return <Problem problem={problem} onRetry={onRetry} />;
  return (
    <Empty title="This project has no DNS">
      <p>Add a table to the configuration, and start the command again:</p>
      <ZonesExample />
    </Empty>
  );
}

export function ZonesExample() {
  return <pre class="panel">{`[dns]\nzones = [{ name = "example.com" }]`}</pre>;
}

interface ZoneDialogProps {
  readonly zone: DnsZone;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function DeleteZoneDialog({ zone, onClose, onDone }: ZoneDialogProps) {
  const [typed, setTyped] = useState("");
  return (
    <FormDialog
      title="Delete zone"
      action="Delete zone"
      isDanger
      isDisabled={typed.trim() !== zone.name}
      onClose={onClose}
      onSubmit={async () => {
        await callDns(`zones/${zone.id}`, { method: "DELETE" });
        onDone();
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

/** All records of the file are imported, or none. */
export function ImportDialog({ zone, onClose, onDone }: ZoneDialogProps) {
  const [text, setText] = useState("");
  const [isProxied, setProxied] = useState(false);
  const [outcome, setOutcome] = useState<readonly string[]>([]);
  const submit = async (): Promise<void> => {
    setOutcome([]);
    const body = new FormData();
    body.set("file", new Blob([text]), "zone");
    body.set("proxied", String(isProxied));
    const path = `zones/${zone.id}/dns_records/import`;
    const { result, messages } = await callDns<ImportCounts>(path, { method: "POST", body });
    setOutcome([importSentence(result), ...messages.map(({ message }) => message)]);
    onDone();
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
      <label class="field">
        Zone file
        <input
          type="file"
          onChange={(event) => void event.currentTarget.files?.[0]?.text().then(setText)}
        />
      </label>
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
        <div class="panel import-outcome" role="status">
          {outcome.map((sentence, index) => (
            <p key={index}>{sentence}</p>
          ))}
        </div>
      )}
    </FormDialog>
  );
}

function importSentence({ recs_added: added, total_records_parsed: parsed }: ImportCounts): string {
  const sentence = `Added ${formatCount(added)} of ${countedNoun(parsed, "record")}.`;
  if (added === parsed) return sentence;
  return `${sentence} The others exist already, or are the name servers of every zone.`;
}
