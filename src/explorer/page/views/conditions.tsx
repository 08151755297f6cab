/** Bad days on purpose: faults, latency and the store's clock, switched on and off. */
import type { ConditionsState } from "../../api/conditions.ts";
import { ApiCallError } from "../api-client.ts";
import { BucketFaults } from "../conditions/bucket-faults.tsx";
import { ClockSection } from "../conditions/clock-section.tsx";
import { presets, usualConditions } from "../conditions/condition-changes.ts";
import { unusualWords } from "../conditions/condition-words.ts";
import { DnsFaults } from "../conditions/dns-faults.tsx";
import { LatencySection } from "../conditions/latency-section.tsx";
import { useChange } from "../conditions/use-change.ts";
import { useConditions, type UsedConditions } from "../conditions/use-conditions.ts";
import { Loading, Problem } from "../parts/states.tsx";
import { useProject } from "../state/project.ts";
import "../styles/conditions.css";

/** Hits are counted while a person looks. */
const pollMilliseconds = 1000;

export function ConditionsView() {
  const { state, problem, change, refresh } = useConditions(pollMilliseconds);
  return (
    <div class="conditions">
      {problem instanceof ApiCallError && <Problem problem={problem} onRetry={refresh} />}
      {state === null ? (
        <>
          <h1>Conditions</h1>
          {problem === null && <Loading what="the conditions" />}
        </>
      ) : (
        <Sections state={state} change={change} />
      )}
    </div>
  );
}

interface SectionsProps {
  readonly state: ConditionsState;
  readonly change: UsedConditions["change"];
}

function Sections({ state, change }: SectionsProps) {
  const hasDns = useProject()?.dns !== null;
  const { refusal, isChanging, make } = useChange(change);
  return (
    <>
      <div class="toolbar">
        <h1 class="grow">Bad days on purpose</h1>
        <button
          type="button"
          class="button"
          disabled={unusualWords(state) === null || isChanging}
          onClick={() => void make(() => usualConditions)}
        >
          All back to normal
        </button>
      </div>
      <p class="conditions-explanation">
        See what the script does when the store or the name server has a bad day. The conditions end
        with the command that serves this page.
      </p>
      {state.problem !== null && <p class="conditions-problem">{state.problem}</p>}
      <div class="conditions-presets" role="group" aria-label="Common bad days">
        {presets
          .filter(({ needsDns }) => hasDns || !needsDns)
          .map((preset) => (
            <button
              key={preset.label}
              type="button"
              class="button"
              disabled={isChanging}
              onClick={() => void make(preset.change)}
            >
              {preset.label}
            </button>
          ))}
      </div>
      {refusal !== null && (
        <p class="field-problem" role="alert">
          {refusal}
        </p>
      )}
      <div class="conditions-grid">
        <div class="conditions-column">
          <BucketFaults state={state} change={change} />
        </div>
        <div class="conditions-column">
          {hasDns ? (
            <DnsFaults state={state} change={change} />
          ) : (
            <section class="conditions-section panel" aria-labelledby="dns-faults">
              <h2 id="dns-faults">DNS faults</h2>
              <p class="conditions-none">
                The project has no DNS. Add zones to the configuration file to have a name server.
              </p>
            </section>
          )}
          <LatencySection milliseconds={state.latencyMilliseconds} change={change} />
          <ClockSection
            storeTime={state.storeTime}
            offset={state.clockOffsetMilliseconds}
            change={change}
          />
        </div>
      </div>
    </>
  );
}
