/** The store's clock, and how it is moved. */
import { moveClock, setClockBack } from "./condition-changes.ts";
import { offsetWords } from "./condition-words.ts";
import { useChange } from "./use-change.ts";
import type { UsedConditions } from "./use-conditions.ts";

const hour = 3_600_000;
const day = 24 * hour;
const moves = [
  { label: "+1 hour", milliseconds: hour },
  { label: "+1 day", milliseconds: day },
  { label: "8 days later", milliseconds: 8 * day },
];

interface ClockSectionProps {
  readonly storeTime: number;
  readonly offset: number;
  readonly change: UsedConditions["change"];
}

export function ClockSection({ storeTime, offset, change }: ClockSectionProps) {
  const { refusal, isChanging, make } = useChange(change);
  return (
    <section class="conditions-section panel" aria-labelledby="clock">
      <h2 id="clock">Clock</h2>
      <p class="clock-time">
        <time dateTime={new Date(storeTime).toISOString()}>
          {new Date(storeTime).toLocaleString(undefined, {
            dateStyle: "medium",
            timeStyle: "medium",
          })}
        </time>{" "}
        <span class={offset === 0 ? "badge" : "badge warning"}>
          {offset === 0 ? "as the machine's clock" : offsetWords(offset)}
        </span>
      </p>
      <p class="conditions-explanation">
        The store takes this time for new objects and for uploads. Uploads older than seven days
        expire, and they stay expired when the clock goes back.
      </p>
      <div class="toolbar">
        {moves.map(({ label, milliseconds }) => (
          <button
            key={label}
            type="button"
            class="button"
            disabled={isChanging}
            onClick={() => void make(moveClock(milliseconds))}
          >
            {label}
          </button>
        ))}
        <button
          type="button"
          class="button"
          disabled={offset === 0 || isChanging}
          onClick={() => void make(setClockBack)}
        >
          Back to now
        </button>
      </div>
      <p class="field-problem" role="status">
        {refusal}
      </p>
    </section>
  );
}
