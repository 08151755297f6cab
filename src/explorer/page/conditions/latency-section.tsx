/** The latency that is added to each call of a bucket. */
import { useId, useState } from "preact/hooks";
import { setLatency } from "./condition-changes.ts";
import { useChange } from "./use-change.ts";
import type { UsedConditions } from "./use-conditions.ts";

/** The slider has the usual range; the field takes what the server takes. */
const sliderMax = 2000;

interface LatencySectionProps {
  readonly milliseconds: number;
  readonly change: UsedConditions["change"];
}

export function LatencySection({ milliseconds, change }: LatencySectionProps) {
  const id = useId();
  const { refusal, make } = useChange(change);
  /** What a person is about to set: sent when the slider is released or the field is left. */
  const [draft, setDraft] = useState<string | null>(null);
  const shown = draft ?? String(milliseconds);
  const send = (text: string): void => {
    const wanted = Number(text);
    if (!Number.isFinite(wanted) || wanted === milliseconds) setDraft(null);
    else void make(setLatency(wanted)).then(() => setDraft(null));
  };
  return (
    <section class="conditions-section panel" aria-labelledby="latency">
      <h2 id="latency">Latency</h2>
      <p class="conditions-explanation">Each call of a bucket takes this much longer.</p>
      <div class="latency-fields">
        <input
          type="range"
          aria-label="Latency in milliseconds, slider"
          min="0"
          max={sliderMax}
          step="10"
          value={Math.min(sliderMax, Number(shown) || 0)}
          onInput={(event) => setDraft(event.currentTarget.value)}
          onChange={(event) => send(event.currentTarget.value)}
        />
        <label class="visually-hidden" for={id}>
          Latency in milliseconds
        </label>
        <input
          id={id}
          class="input"
          type="number"
          min="0"
          step="1"
          value={shown}
          aria-invalid={refusal !== null}
          aria-describedby={`${id}-problem`}
          onInput={(event) => setDraft(event.currentTarget.value)}
          onChange={(event) => send(event.currentTarget.value)}
        />
        <span aria-hidden="true">ms</span>
        <button
          type="button"
          class="button"
          disabled={milliseconds === 0}
          onClick={() => void make(setLatency(0))}
        >
          None
        </button>
      </div>
      <p id={`${id}-problem`} class="field-problem" role="status">
        {refusal}
      </p>
    </section>
  );
}
