/** Which rows of a list are shown, and the way to the pages before and after. */
import type { PageStart } from "../objects/page-trail.ts";
import { countedNoun, formatCount } from "../frame/format.ts";

interface PageStepsProps {
  readonly rows: number;
  readonly after: string;
  /** `undefined` when the rows before the page are not counted. */
  readonly start: PageStart | undefined;
  readonly hasNext: boolean;
  readonly onPrevious: () => void;
  readonly onNext: () => void;
}

export function PageSteps({ rows, after, start, hasNext, onPrevious, onNext }: PageStepsProps) {
  const isFirst = after === "";
  return (
    <div class="page-steps">
      <p role="status">
        {start === undefined ? (
          <>
            {countedNoun(rows, "row")} after <bdi class="page-after">{after}</bdi>
          </>
        ) : isFirst && !hasNext ? (
          countedNoun(rows, "row")
        ) : (
          `${formatCount(start.offset + 1)} – ${formatCount(start.offset + rows)}`
        )}
      </p>
      {(hasNext || !isFirst) && (
        <>
          <button type="button" class="button" disabled={isFirst} onClick={onPrevious}>
            {start === undefined ? "First page" : "Previous page"}
          </button>
          <button type="button" class="button" disabled={!hasNext} onClick={onNext}>
            Next page
          </button>
        </>
      )}
    </div>
  );
}
