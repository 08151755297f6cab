/** Asks for the name of a bucket, and creates the bucket. */
import { useState } from "preact/hooks";
import type { BucketSummary } from "../../api/buckets.ts";
import { callApi, type ApiCallError } from "../api-client.ts";
import { Dialog } from "./dialog.tsx";

interface NewBucketDialogProps {
  readonly onClose: () => void;
  readonly onCreated: (bucket: BucketSummary) => void;
}

export function NewBucketDialog({ onClose, onCreated }: NewBucketDialogProps) {
  const [name, setName] = useState("");
  const [problem, setProblem] = useState<string>();
  const [isSending, setSending] = useState(false);
  const create = (): void => {
    if (name === "") {
      setProblem("Enter a name.");
      return;
    }
    setSending(true);
    callApi<BucketSummary>("/api/buckets", { method: "POST", json: { name } }).then(
      onCreated,
      (error: ApiCallError) => {
        setProblem(error.message);
        setSending(false);
      },
    );
  };
  return (
    <Dialog title="New bucket" onClose={onClose}>
      <form
        class="new-bucket"
        onSubmit={(event) => {
          event.preventDefault();
          create();
        }}
      >
        <div class="field">
          <label for="bucket-name">Name</label>
          <input
            id="bucket-name"
            autofocus
            class="input code"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            value={name}
            aria-describedby="bucket-name-hint"
            aria-invalid={problem !== undefined}
            onInput={(event) => {
              setProblem(undefined);
              setName(event.currentTarget.value);
            }}
          />
          <p id="bucket-name-hint" class="field-hint">
            3 to 63 lower-case letters, digits and hyphens, with a letter or a digit at both ends.
          </p>
          <p class="field-problem" role="alert">
            {problem}
          </p>
        </div>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={isSending}>
            Create
          </button>
        </div>
      </form>
    </Dialog>
  );
}
