/** Creates a zone; deletes a zone after its name was typed. */
import { useState } from "preact/hooks";
import type { DnsProblem, DnsZone } from "../../api/zones-api.ts";
import { Dialog } from "../parts/dialog.tsx";
import { callDns, dnsPath, problemsOf } from "./dns-calls.ts";
import { ProblemLines } from "./problem-lines.tsx";

export function CreateZoneDialog({
  onClose,
  onCreated,
}: {
  readonly onClose: () => void;
  readonly onCreated: (zone: DnsZone) => void;
}) {
  const [name, setName] = useState("");
  const { problems, isBusy, run } = useSubmission();
  const submit = (): void =>
    run(async () => {
      const json = { name: name.trim() };
      onCreated((await callDns<DnsZone>(dnsPath("zones"), { method: "POST", json })).result);
    });
  return (
    <Dialog title="New zone" onClose={onClose}>
      <form
        class="zones-form"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <div class="field">
          <label htmlFor="zone-name">Name</label>
          <input
            id="zone-name"
            class="input code"
            autoFocus
            autoComplete="off"
            spellcheck={false}
            placeholder="example.com"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
            aria-describedby="zone-name-hint"
          />
          <p id="zone-name-hint" class="zones-hint">
            A domain name with at least two labels. The zone exists on this machine only.
          </p>
        </div>
        {problems.length > 0 && <ProblemLines problems={problems} />}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={isBusy || name.trim() === ""}>
            {isBusy ? "Creating…" : "Create zone"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export function DeleteZoneDialog({
  zone,
  onClose,
  onDeleted,
}: {
  readonly zone: DnsZone;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}) {
  const [typed, setTyped] = useState("");
  const { problems, isBusy, run } = useSubmission();
  return (
    <Dialog title="Delete zone" onClose={onClose}>
      <form
        class="zones-form"
        onSubmit={(event) => {
          event.preventDefault();
          run(async () => {
            await callDns(dnsPath("zones", zone.id), { method: "DELETE" });
            onDeleted();
          });
        }}
      >
        <p>
          This deletes <bdi class="code">{zone.name}</bdi> with all its records. It cannot be
          undone: export the zone first if you need its records.
        </p>
        <div class="field">
          <label htmlFor="zone-confirmation">Type the name of the zone</label>
          <input
            id="zone-confirmation"
            class="input code"
            autoFocus
            autoComplete="off"
            spellcheck={false}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </div>
        {problems.length > 0 && <ProblemLines problems={problems} />}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            class="button danger"
            disabled={isBusy || typed.trim() !== zone.name}
          >
            {isBusy ? "Deleting…" : "Delete zone"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** The state of a form that is sent: what the API refused, and whether the answer is on its way. */
export function useSubmission() {
  const [problems, setProblems] = useState<readonly DnsProblem[]>([]);
  const [isBusy, setBusy] = useState(false);
  const run = (act: () => Promise<void>): void => {
    setBusy(true);
    setProblems([]);
    act()
      .catch((error: unknown) => setProblems(problemsOf(error)))
      .finally(() => setBusy(false));
  };
  return { problems, isBusy, run };
}
