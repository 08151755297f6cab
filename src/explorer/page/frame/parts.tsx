/**
 * Small parts of views. A view without data says what it waits for, what went wrong, or what to do.
 */
import type { ComponentChildren } from "preact";
import type { ApiCallError } from "../api-client.ts";
import { formatTime } from "./format.ts";

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

interface ProgressProps {
  /** What goes on: "Uploading cat.jpg". */
  readonly label: string;
  readonly value: number;
  /** `null` while the end is not known. */
  readonly max: number | null;
  /** How far it is: "3 of 10". */
  readonly text: string;
}

/** How far a task or an upload is. */
export function Progress({ label, value, max, text }: ProgressProps) {
  return (
    <span class="progress">
      <progress aria-label={label} {...(max !== null && { max: Math.max(1, max), value })} />
      <span>{text}</span>
    </span>
  );
}

/** A moment. Its title is exact, and in UTC. */
export function Time({ at }: { readonly at: number }) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <>{at}</>;
  const exact = date.toISOString();
  return (
    <time dateTime={exact} title={exact}>
      {formatTime(at)}
    </time>
  );
}
