/**
 * An entry with all that is known of it. Of a request: why it failed, its calls on a time line, and what
 * it wrote to its console.
 */
import type { ComponentChildren } from "preact";
import { formatBytes } from "../../../base/format.ts";
import type { ActivityEntry, CallEntry, RequestEntry } from "../../api/activity.ts";
import { countedNoun, formatDuration, shownKey } from "../frame/format.ts";
import { Icon } from "../frame/icon.tsx";
import { Link } from "../frame/navigation.tsx";
import {
  groupOf,
  kindName,
  outcomeText,
  outcomeTone,
  placeOfCall,
  subjectOf,
  timeText,
} from "./entry-words.ts";

export function EntryDetails({
  entry,
  onClose,
}: {
  readonly entry: ActivityEntry;
  readonly onClose: () => void;
}) {
  return (
    <aside class="live-details panel" aria-label="Details of the entry">
      <header class="toolbar">
        <h2 class="toolbar">
          <span class={`live-kind kind-${groupOf(entry.kind)}`}>{kindName(entry.kind)}</span>
          <span class="code">{entry.method}</span>
          <span class={`badge ${outcomeTone(entry)}`}>{outcomeText(entry)}</span>
        </h2>
        <button
          type="button"
          class="button quiet icon-button"
          aria-label="Close the details"
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      <Note entry={entry} />
      {entry.kind === "request" ? <RequestParts request={entry} /> : <CallParts call={entry} />}
    </aside>
  );
}

/** The note of a request is the message of its exception, which is shown with its stack. */
function Note({ entry }: { readonly entry: ActivityEntry }) {
  const isRepeated = entry.kind === "request" && (entry.exceptions ?? []).length > 0;
  if (entry.note === null || isRepeated) return null;
  return (
    <p class={entry.outcome === "error" ? "live-note bad" : "live-note"}>
      <bdi>{entry.note}</bdi>
    </p>
  );
}

function RequestParts({ request }: { readonly request: RequestEntry }) {
  const { calls, logs, exceptions = [] } = request;
  // A call that goes on after the response makes the time line longer than the request.
  const ends = calls.map((call) => call.at + call.milliseconds - request.at);
  const total = Math.max(request.milliseconds, ...ends);
  return (
    <>
      {exceptions.map(({ name, message, stack }, index) => (
        <section key={index} class="live-exception" aria-label="Exception">
          <h3>
            <bdi>{`${name}: ${message}`}</bdi>
          </h3>
          {stack !== "" && <pre tabIndex={0}>{stack}</pre>}
        </section>
      ))}
      <dl class="live-fields">
        <Field name="URL">
          <bdi class="code">{shownKey(request.url)}</bdi>
        </Field>
        <Field name="Began">{timeText(request.at)}</Field>
        <Field name="Took">{formatDuration(request.milliseconds)}</Field>
      </dl>
      <section>
        <h3>{calls.length === 0 ? "No calls" : countedNoun(calls.length, "call")}</h3>
        {calls.length > 0 && (
          <ol class="live-calls">
            {calls
              .toSorted((one, other) => one.at - other.at)
              .map((call) => (
                <CallBar key={call.id} call={call} start={request.at} total={total} />
              ))}
          </ol>
        )}
      </section>
      {logs.length > 0 && (
        <section>
          <h3>Console</h3>
          <ul class="live-logs">
            {logs.map(({ level, text }, index) => (
              <li key={index} class={`code level-${level}`}>
                <span class="badge">{level}</span> <bdi>{text}</bdi>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

interface CallBarProps {
  readonly call: CallEntry;
  /** When the request began. */
  readonly start: number;
  /** Milliseconds of the whole time line. */
  readonly total: number;
}

function CallBar({ call, start, total }: CallBarProps) {
  const group = groupOf(call.kind);
  // Clocks of two processes may differ by a little, and a short call is visible, too.
  const offset = Math.max(0, call.at - start);
  const startPercent = Math.min(99, (100 * offset) / (total || 1));
  const widthPercent = Math.max(
    1,
    Math.min(100 - startPercent, (100 * call.milliseconds) / (total || 1)),
  );
  return (
    <li>
      <p class="toolbar live-call">
        <span class={`live-kind kind-${group}`}>{kindName(call.kind)}</span>
        <span class="code">{call.method}</span>
        <span class="live-call-subject code">
          <CallLink call={call} text={subjectOf(call)} />
        </span>
        {call.outcome !== "ok" && (
          <span class={`badge ${outcomeTone(call)}`}>{outcomeText(call)}</span>
        )}
        <span class="live-duration">{formatDuration(call.milliseconds)}</span>
      </p>
      <svg
        class={`live-bar kind-${group}${call.outcome === "error" ? " bad" : ""}`}
        role="img"
        aria-label={`from ${formatDuration(offset)}, for ${formatDuration(call.milliseconds)}`}
        width="100%"
        height="6"
      >
        <rect class="live-bar-track" width="100%" height="6" rx="3" />
        <rect x={`${startPercent}%`} width={`${widthPercent}%`} height="6" rx="3" />
      </svg>
      <Note entry={call} />
    </li>
  );
}

const placeNames: Readonly<Record<string, string>> = {
  bucket: "Bucket",
  query: "Zone",
  api: "Zone",
};
const subjectNames: Readonly<Record<string, string>> = {
  bucket: "Key",
  query: "Name",
  api: "Path",
};

function CallParts({ call }: { readonly call: CallEntry }) {
  const { kind, place, subject } = call;
  return (
    <dl class="live-fields">
      <Field name="Made by">
        <bdi>{call.source}</bdi>
      </Field>
      {place !== "" && (
        <Field name={placeNames[kind] ?? "Binding"}>
          <bdi class="code">{place}</bdi>
        </Field>
      )}
      {subject !== "" && (
        <Field name={subjectNames[kind] ?? "Subject"}>
          <span class="code">
            <CallLink call={call} text={shownKey(subject)} />
          </span>
        </Field>
      )}
      {call.bytes !== null && <Field name="Content">{formatBytes(call.bytes)}</Field>}
      <Field name="Began">{timeText(call.at)}</Field>
      <Field name="Took">{formatDuration(call.milliseconds)}</Field>
    </dl>
  );
}

function CallLink({ call, text }: { readonly call: CallEntry; readonly text: string }) {
  const place = placeOfCall(call);
  if (place === null) return <bdi>{text}</bdi>;
  return (
    <Link to={place}>
      <bdi>{text}</bdi>
    </Link>
  );
}

function Field({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
