/** The form that changes the metadata of an object and keeps its content. */
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { ObjectDetails, StorageClass } from "../../api/buckets.ts";
import { metadataBytesMax } from "../../../store/core/limits.ts";
import { bucketPath, callApi, type ApiCallError } from "../api-client.ts";
import { CustomPairs } from "./custom-pairs.tsx";
import {
  changeOf,
  draftBytes,
  draftProblems,
  hasProblems,
  rebaseDraft,
  textFields,
  type MetadataDraft,
  type MetadataEditing,
  type TextField,
} from "./metadata-draft.ts";
import { httpFieldLabels, httpFieldSuggestions } from "./metadata-fields.ts";

interface MetadataEditorProps {
  readonly bucket: string;
  readonly editing: MetadataEditing;
  readonly onEdit: (editing: MetadataEditing | null) => void;
  readonly onSaved: (details: ObjectDetails) => void;
}

/** The status of a change to an object that has changed in the meantime. */
const changed = 412;

export function MetadataEditor({ bucket, editing, onEdit, onSaved }: MetadataEditorProps) {
  const { base, draft } = editing;
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<ApiCallError | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const id = useId();
  const problems = draftProblems(draft);
  useEffect(() => form.current?.querySelector<HTMLElement>("input")?.focus(), []);
  const edit = (parts: Partial<MetadataDraft>): void => {
    onEdit({ base, draft: { ...draft, ...parts } });
  };
  const call = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    try {
      await work();
      setRefusal(null);
    } catch (error) {
      setRefusal(error as ApiCallError);
    }
    setBusy(false);
  };
  const path = bucketPath(bucket, "/object");
  const query = { key: base.key };
  const save = (): Promise<void> =>
    call(async () => {
      const json = changeOf(draft, base);
      onSaved(await callApi<ObjectDetails>(path, { method: "PATCH", query, json }));
    });
  const loadAgain = (): Promise<void> =>
    call(async () => {
      const now = await callApi<ObjectDetails>(path, { query });
      onEdit({ base: now, draft: rebaseDraft(draft, { from: base, to: now }) });
    });
  return (
    <form
      ref={form}
      class="metadata-form"
      aria-label="Metadata"
      onSubmit={(event) => {
        event.preventDefault();
        if (!hasProblems(problems)) void save();
      }}
    >
      {textFields.map((field) => (
        <HeaderField
          key={field}
          field={field}
          value={draft[field]}
          problem={problems.fields[field]}
          onInput={(value) => edit({ [field]: value })}
        />
      ))}
      <div class="field">
        <label for={`${id}-expiry`}>Expires (UTC)</label>
        <input
          id={`${id}-expiry`}
          class="input"
          type="datetime-local"
          step={1}
          value={draft.cacheExpiry}
          onInput={(event) => edit({ cacheExpiry: event.currentTarget.value })}
        />
        {problems.fields.cacheExpiry !== undefined && (
          <p class="field-problem">{problems.fields.cacheExpiry}</p>
        )}
      </div>
      <div class="field">
        <label for={`${id}-class`}>Storage class</label>
        <select
          id={`${id}-class`}
          class="input"
          value={draft.storageClass}
          onChange={(event) => edit({ storageClass: event.currentTarget.value as StorageClass })}
        >
          <option value="Standard">Standard</option>
          <option value="InfrequentAccess">Infrequent access</option>
        </select>
      </div>
      <CustomPairs
        pairs={draft.custom}
        problems={problems.pairs}
        onEdit={(custom) => edit({ custom })}
      />
      <p class="metadata-size">
        {draftBytes(draft).toLocaleString("en")} of {metadataBytesMax.toLocaleString("en")} bytes
      </p>
      {problems.whole !== null && (
        <p class="field-problem" role="alert">
          {problems.whole}
        </p>
      )}
      {refusal !== null && (
        <div class="metadata-refusal" role="alert">
          {refusal.status === changed ? (
            <>
              <p>
                The object has changed since you began to edit, so nothing is saved. Load the object
                again: what you typed stays in the form.
              </p>
              <button
                type="button"
                class="button"
                disabled={isBusy}
                onClick={() => void loadAgain()}
              >
                {isBusy ? "Loading…" : "Load again"}
              </button>
            </>
          ) : (
            <p>{refusal.message}</p>
          )}
        </div>
      )}
      <div class="toolbar">
        <button type="submit" class="button primary" disabled={isBusy || hasProblems(problems)}>
          {isBusy && refusal?.status !== changed ? "Saving…" : "Save"}
        </button>
        <button type="button" class="button" disabled={isBusy} onClick={() => onEdit(null)}>
          Cancel
        </button>
      </div>
    </form>
  );
}

interface HeaderFieldProps {
  readonly field: TextField;
  readonly value: string;
  readonly problem: string | undefined;
  readonly onInput: (value: string) => void;
}

function HeaderField({ field, value, problem, onInput }: HeaderFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{httpFieldLabels[field]}</label>
      <input
        id={id}
        class="input"
        list={`${id}-list`}
        autocomplete="off"
        spellcheck={false}
        value={value}
        aria-invalid={problem !== undefined}
        {...(problem !== undefined && { "aria-describedby": `${id}-problem` })}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <datalist id={`${id}-list`}>
        {httpFieldSuggestions[field].map((suggestion) => (
          <option key={suggestion} value={suggestion} />
        ))}
      </datalist>
      {problem !== undefined && (
        <p id={`${id}-problem`} class="field-problem">
          {problem}
        </p>
      )}
    </div>
  );
}
