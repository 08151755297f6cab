/** The fields of the custom metadata: pairs that are added, renamed and removed. */
import { useEffect, useRef } from "preact/hooks";
import type { CustomPair } from "./metadata-draft.ts";

interface CustomPairsProps {
  readonly pairs: readonly CustomPair[];
  /** By the id of the pair. */
  readonly problems: ReadonlyMap<number, string>;
  readonly onEdit: (pairs: readonly CustomPair[]) => void;
}

export function CustomPairs({ pairs, problems, onEdit }: CustomPairsProps) {
  const fields = useRef<HTMLFieldSetElement>(null);
  const addButton = useRef<HTMLButtonElement>(null);
  const hasAdded = useRef(false);
  useEffect(() => {
    if (!hasAdded.current) return;
    hasAdded.current = false;
    fields.current?.querySelector<HTMLElement>(".custom-pair:last-of-type input")?.focus();
  }, [pairs.length]);
  const edit = (id: number, parts: Partial<CustomPair>): void => {
    onEdit(pairs.map((pair) => (pair.id === id ? { ...pair, ...parts } : pair)));
  };
  return (
    <fieldset ref={fields} class="custom-pairs">
      <legend>Custom metadata</legend>
      {pairs.map((pair, index) => (
        <PairFields
          key={pair.id}
          pair={pair}
          number={index + 1}
          problem={problems.get(pair.id)}
          onEdit={(parts) => edit(pair.id, parts)}
          onRemove={() => {
            onEdit(pairs.filter(({ id }) => id !== pair.id));
            addButton.current?.focus();
          }}
        />
      ))}
      <button
        ref={addButton}
        type="button"
        class="button"
        onClick={() => {
          hasAdded.current = true;
          const id = Math.max(-1, ...pairs.map((pair) => pair.id)) + 1;
          onEdit([...pairs, { id, name: "", value: "" }]);
        }}
      >
        Add a pair
      </button>
    </fieldset>
  );
}

interface PairFieldsProps {
  readonly pair: CustomPair;
  readonly number: number;
  readonly problem: string | undefined;
  readonly onEdit: (parts: Partial<CustomPair>) => void;
  readonly onRemove: () => void;
}

function PairFields({ pair, number, problem, onEdit, onRemove }: PairFieldsProps) {
  const { id, name, value } = pair;
  const problemId = `pair-problem-${id}`;
  return (
    <div class="custom-pair">
      <input
        class="input code"
        dir="auto"
        aria-label={`Name of pair ${number}`}
        placeholder="Name"
        autocomplete="off"
        spellcheck={false}
        value={name}
        aria-invalid={problem !== undefined}
        {...(problem !== undefined && { "aria-describedby": problemId })}
        onInput={(event) => onEdit({ name: event.currentTarget.value })}
      />
      {/* A field of one line would lose line breaks. */}
      <textarea
        class="input code"
        dir="auto"
        rows={value.split("\n").length}
        aria-label={`Value of pair ${number}`}
        placeholder="Value"
        spellcheck={false}
        value={value}
        onInput={(event) => onEdit({ value: event.currentTarget.value })}
      />
      <button
        type="button"
        class="button quiet"
        aria-label={name === "" ? `Remove pair ${number}` : `Remove ${name}`}
        title="Remove"
        onClick={onRemove}
      >
        ✕
      </button>
      {problem !== undefined && (
        <p id={problemId} class="field-problem">
          {problem}
        </p>
      )}
    </div>
  );
}
