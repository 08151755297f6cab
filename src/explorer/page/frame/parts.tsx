/**
 * Small parts of views. A view without data says what it waits for, what went wrong, or what to do.
 */
import type { ComponentChildren } from "preact";
import type { ApiCallError } from "../api-client.ts";
import { formatTime } from "./format.ts";
import { Icon, type IconName } from "./icon.tsx";

interface ButtonProps {
  readonly onClick: () => void;
  readonly children?: ComponentChildren;
  readonly icon?: IconName;
  /** What a screen reader says: for a button with an icon alone, or with a text that is not enough. */
  readonly label?: string;
  readonly title?: string;
  readonly tone?: "primary" | "danger" | "quiet" | "chip";
  readonly isDisabled?: boolean;
  /** Of a button that is on or off. */
  readonly isPressed?: boolean;
}

export function Button(props: ButtonProps) {
  const { onClick, children, icon, label, title, tone = "", isDisabled = false, isPressed } = props;
  return (
    <button
      type="button"
      class={`button ${tone} ${children === undefined ? "icon-button" : ""}`}
      aria-label={label}
      aria-pressed={isPressed}
      title={title}
      disabled={isDisabled}
      onClick={onClick}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** @param what is loaded: "the objects of photos" */
export function Loading({ what }: { readonly what: string }) {
  return (
    <p class="state loading" role="status">
      Loading {what}…
    </p>
  );
}

interface ProblemProps {
  readonly problem: ApiCallError;
  readonly onRetry?: () => void;
}

export function Problem({ problem, onRetry }: ProblemProps) {
  return (
    <div class="state problem" role="alert">
      <p>{problem.message}</p>
      {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
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
