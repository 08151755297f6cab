/** What a view shows instead of data: it says what it waits for, what went wrong, or what to do. */
import type { ComponentChildren } from "preact";
import type { ApiCallError } from "../api-client.ts";

/** @param what is loaded: "the objects of photos" */
export function Loading({ what }: { readonly what: string }) {
  return (
    <p class="state loading" role="status">
      Loading {what}…
    </p>
  );
}

export function Problem({
  problem,
  onRetry,
}: {
  readonly problem: ApiCallError;
  readonly onRetry?: () => void;
}) {
  return (
    <div class="state problem" role="alert">
      <p>{problem.message}</p>
      {onRetry !== undefined && (
        <button type="button" class="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state empty">
      <p class="state-title">{title}</p>
      {children}
    </div>
  );
}
