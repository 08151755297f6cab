/** A banner above every view while a condition is unusual, so that no failure on purpose is a riddle. */
import { ApiCallError } from "../api-client.ts";
import { usualConditions } from "../conditions/condition-changes.ts";
import { unusualWords } from "../conditions/condition-words.ts";
import { useConditions } from "../conditions/use-conditions.ts";
import { useNotices } from "../state/notices.ts";
import { useNavigation } from "../state/use-place.ts";
import { Link } from "./link.tsx";
import "../styles/conditions.css";

const pollMilliseconds = 3000;

export function ConditionsBanner() {
  const { state, change } = useConditions(pollMilliseconds);
  const notices = useNotices();
  const { place } = useNavigation();
  const words = state === null ? null : unusualWords(state);
  const problem = state?.problem ?? null;
  const reset = (): void => {
    change(() => usualConditions).then(
      () => notices.show("All conditions are back to normal."),
      (error: unknown) => {
        if (!(error instanceof ApiCallError)) throw error;
        notices.show(error.message, { tone: "problem" });
      },
    );
  };
  // The element stays, because screen readers announce changes of an element that was there before.
  // The view of the conditions has a button of its own.
  const isInView = place.view === "faults";
  return (
    <div class="conditions-banner" role="status">
      {(words !== null || problem !== null) && (
        <div class="conditions-banner-content">
          <p>
            {words !== null && (
              <>
                <strong>Unusual conditions:</strong> {words}.
              </>
            )}{" "}
            {problem}
          </p>
          {!isInView && <Link to={{ view: "faults" }}>Show</Link>}
          {words !== null && !isInView && (
            <button type="button" class="button" onClick={reset}>
              Back to normal
            </button>
          )}
        </div>
      )}
    </div>
  );
}
