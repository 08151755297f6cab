/** Imports a zone file: from a file, or from text. All records or none are imported. */
import { useState } from "preact/hooks";
import type { DnsZone, ImportCounts } from "../../api/zones-api.ts";
import { Dialog } from "../parts/dialog.tsx";
import { callDns, dnsPath } from "./dns-calls.ts";
import { formatCount } from "./pager.tsx";
import { ProblemLines } from "./problem-lines.tsx";
import { writeInZone } from "./record-writes.ts";
import { useSubmission } from "./zone-dialogs.tsx";

interface ImportResult extends ImportCounts {
  readonly remarks: readonly string[];
}

export function ImportDialog({
  zone,
  onClose,
  onImported,
}: {
  readonly zone: DnsZone;
  readonly onClose: () => void;
  readonly onImported: () => void;
}) {
  const [text, setText] = useState("");
  const [isProxied, setProxied] = useState(false);
  const [result, setResult] = useState<ImportResult | null>(null);
  const { problems, isBusy, run } = useSubmission();
  const submit = (): void =>
    run(async () => {
      setResult(null);
      const form = new FormData();
      form.set("file", new Blob([text]), "zone");
      form.set("proxied", String(isProxied));
      const path = dnsPath("zones", zone.id, "dns_records", "import");
      const answer = await writeInZone(zone.id, () =>
        callDns<ImportCounts>(path, { method: "POST", form }),
      );
      setResult({ ...answer.result, remarks: answer.messages.map(({ message }) => message) });
      onImported();
    });
  return (
    <Dialog title={`Import into ${zone.name}`} onClose={onClose}>
      <form
        class="zones-form"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
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
        <div class="field">
          <label htmlFor="import-text">Or its text</label>
          <textarea
            id="import-text"
            class="input code"
            rows={8}
            spellcheck={false}
            placeholder={"www 300 IN A 192.0.2.1\n@ 300 IN MX 10 mail"}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </div>
        <label class="zones-check">
          <input
            type="checkbox"
            checked={isProxied}
            onChange={(event) => setProxied(event.currentTarget.checked)}
          />
          Proxied, for the types that can be
        </label>
        {problems.length > 0 && (
          <div class="import-result">
            <p>Nothing was imported.</p>
            <ProblemLines problems={problems} />
          </div>
        )}
        {result !== null && <Result result={result} />}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {result === null ? "Cancel" : "Close"}
          </button>
          <button type="submit" class="button primary" disabled={isBusy || text.trim() === ""}>
            {isBusy ? "Importing…" : "Import"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Result({ result }: { readonly result: ImportResult }) {
  const { recs_added: added, total_records_parsed: parsed, remarks } = result;
  return (
    <div class="import-result" role="status">
      <p>
        {formatCount(added)} of {formatCount(parsed)} records were added.
        {added < parsed && " The others exist already, or are the name servers of every zone."}
      </p>
      {remarks.length > 0 && (
        <ul>
          {remarks.map((remark, index) => (
            <li key={index}>{remark}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
