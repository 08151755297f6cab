/** The filter: a text, and chips that edit the text. */
import type { Ref } from "preact";
import { entryKinds } from "./activity-filter.ts";
import { kindLabels } from "./entry-words.ts";
import { hasWord, minimumOf, toggleWord, withMinimum } from "./filter-edit.ts";

const minimumChoices = [0, 10, 100, 1000];

interface FilterBarProps {
  readonly filter: string;
  readonly problem: string | null;
  readonly inputRef: Ref<HTMLInputElement>;
  readonly onChange: (filter: string) => void;
}

export function FilterBar({ filter, problem, inputRef, onChange }: FilterBarProps) {
  const minimum = minimumOf(filter);
  const minimums = minimumChoices.includes(minimum) ? minimumChoices : [...minimumChoices, minimum];
  const chip = (word: string, label: string) => (
    <button
      type="button"
      class="live-chip"
      aria-pressed={hasWord(filter, word)}
      onClick={() => onChange(toggleWord(filter, word))}
    >
      {label}
    </button>
  );
  return (
    <div class="live-filter" role="search">
      <div class="live-filter-text">
        <label class="visually-hidden" for="live-filter">
          Filter
        </label>
        <input
          id="live-filter"
          class="input"
          type="search"
          ref={inputRef}
          value={filter}
          placeholder="Filter: a URL, key or name, or bucket:photos is:error >100ms"
          autocomplete="off"
          spellcheck={false}
          aria-describedby="live-filter-problem"
          onInput={(event) => onChange(event.currentTarget.value)}
        />
        <p id="live-filter-problem" class="field-problem" aria-live="polite">
          {problem}
        </p>
      </div>
      <div class="live-chips" role="group" aria-label="Kinds">
        {entryKinds.map((kind) => chip(`kind:${kind}`, kindLabels[kind].short))}
      </div>
      <div class="live-chips" role="group" aria-label="Other filters">
        {chip("is:error", "Errors only")}
        {chip("show:explorer", "Explorer's own calls")}
        <label class="visually-hidden" for="live-minimum">
          Minimum duration
        </label>
        <select
          id="live-minimum"
          class="live-chip"
          value={minimum}
          onChange={(event) => onChange(withMinimum(filter, Number(event.currentTarget.value)))}
        >
          {minimums.map((milliseconds) => (
            <option key={milliseconds} value={milliseconds}>
              {milliseconds === 0 ? "Any duration" : `Above ${milliseconds} ms`}
            </option>
          ))}
        </select>
      </div>
    </div>
  );
}
