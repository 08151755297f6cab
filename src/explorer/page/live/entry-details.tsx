/**
 * An entry with all that is known of it. Of a request: why it failed, its calls on a time line, and what
 * it wrote to its console.
 */
import type { ComponentChildren } from "preact";
import { formatBytes } from "../../../base/format.ts";
import type { ActivityEntry, CallEntry, RequestEntry } from "../../api/activity.ts";
import { countedNoun, formatDuration, shownKey } from "../frame/format.ts";
import { Link } from "../frame/navigation.tsx";
import { Button } from "../frame/parts.tsx";
import {
  groupOf,
  kindName,
  outcomeText,
  outcomeTone,
  placeOfCall,
  subjectOf,
  timeText,
} from "./entry-words.ts";

interface EntryDetailsProps {
  readonly entry: ActivityEntry;
  readonly onClose: () => void;
}

export function EntryDetails({ entry, onClose }: EntryDetailsProps) {
  const isRequest = entry.kind === "request";
  return (
    <aside class="live-details panel" aria-label="Details of the entry">
      <header class="toolbar">
        <h2 class="toolbar">
          <Kind kind={entry.kind} />
          <span class="code">{entry.method}</span>
          <Outcome entry={entry} />
        </h2>
        <Button tone="quiet" icon="close" label="Close the details" onClick={onClose} />
      </header>
      {isRequest ? <Exceptions request={entry} /> : <Note entry={entry} />}
      <dl class="facts">
        {isRequest ? <Field name="URL">{shownKey(entry.url)}</Field> : <CallFields call={entry} />}
        <Field name="Began">{timeText(entry.at)}</Field>
        <Field name="Took">{formatDuration(entry.milliseconds)}</Field>
      </dl>
      {isRequest && <Calls request={entry} />}
      {isRequest && entry.logs.length > 0 && (
        <section>
          <h3>Console</h3>
          <ul class="live-logs">
            {entry.logs.map(({ level, text }, index) => (
              <li key={index} class={`code level-${level}`}>
                <span class="badge">{level}</span> <bdi>{text}</bdi>
              </li>
            ))}
          </ul>
        </section>
      )}
    </aside>
  );
}

export function Kind({ kind }: { readonly kind: string }) {
  return <span class={`live-kind kind-${groupOf(kind)}`}>{kindName(kind)}</span>;
}

export function Outcome({ entry }: { readonly entry: ActivityEntry }) {
  return <span class={`badge ${outcomeTone(entry)}`}>{outcomeText(entry)}</span>;
}

function Note({ entry: { note, outcome } }: { readonly entry: ActivityEntry }) {
  if (note === null) return null;
  return (
    <p class={outcome === "error" ? "live-note bad" : "live-note"}>
      <bdi>{note}</bdi>
    </p>
  );
}

/** The note of a request is the message of its exception, which is shown with its stack. */
function Exceptions({ request }: { readonly request: RequestEntry }) {
  const { exceptions = [] } = request;
  if (exceptions.length === 0) return <Note entry={request} />;
  return exceptions.map(({ name, message, stack }, index) => (
    <section key={index} class="live-exception" aria-label="Exception">
      <h3>
        <bdi>{`${name}: ${message}`}</bdi>
      </h3>
      {stack !== "" && <pre tabIndex={0}>{stack}</pre>}
    </section>
  ));
}

function Calls({ request }: { readonly request: RequestEntry }) {
  const { at, calls } = request;
  // A call that goes on after the response makes the time line longer than the request.
  const ends = calls.map((call) => call.at + call.milliseconds - at);
  const total = Math.max(request.milliseconds, ...ends) || 1;
  return (
    <section>
      <h3>{calls.length === 0 ? "No calls" : countedNoun(calls.length, "call")}</h3>
      <ol class="live-calls">
        {calls
          .toSorted((one, other) => one.at - other.at)
          .map((call) => (
            <li key={call.id}>
              <p class="toolbar">
                <Kind kind={call.kind} />
                <span class="code">{call.method}</span>
                <span class="live-call-subject code">
                  <CallLink call={call} text={subjectOf(call)} />
                </span>
                {call.outcome !== "ok" && <Outcome entry={call} />}
                <span class="live-duration">{formatDuration(call.milliseconds)}</span>
              </p>
              <CallBar call={call} start={at} total={total} />
              <Note entry={call} />
            </li>
          ))}
      </ol>
    </section>
  );
}

interface CallBarProps {
  readonly call: CallEntry;
  /** When the request began. */
  readonly start: number;
  /** Milliseconds of the whole time line. */
  readonly total: number;
}

function CallBar({ call: { at, kind, milliseconds, outcome }, start, total }: CallBarProps) {
  // Clocks of two processes may differ by a little, and a short call is visible, too.
  const offset = Math.max(0, at - start);
  const from = Math.min(99, (100 * offset) / total);
  const width = Math.max(1, Math.min(100 - from, (100 * milliseconds) / total));
  return (
    <svg
      class={`live-bar kind-${groupOf(kind)}${outcome === "error" ? " bad" : ""}`}
      role="img"
      aria-label={`from ${formatDuration(offset)}, for ${formatDuration(milliseconds)}`}
      width="100%"
      height="6"
    >
      <rect class="live-bar-track" width="100%" height="6" rx="3" />
      <rect x={`${from}%`} width={`${width}%`} height="6" rx="3" />
    </svg>
  );
}

/** What the place and the subject of a call are. */
const fieldNames: Readonly<Record<string, readonly [place: string, subject: string]>> = {
  edge: ["Host", "URL"],
  bucket: ["Bucket", "Key"],
  // The address that was asked.
  query: ["Server", "Name"],
  api: ["Zone", "Path"],
};

function CallFields({ call }: { readonly call: CallEntry }) {
  const { kind, source, place, subject, bytes } = call;
  const [placeName, subjectName] = fieldNames[kind] ?? ["Binding", "Subject"];
  return (
    <>
      <Field name="Made by">{source}</Field>
      {place !== "" && <Field name={placeName}>{place}</Field>}
      {subject !== "" && (
        <Field name={subjectName}>
          <CallLink call={call} text={shownKey(subject)} />
        </Field>
      )}
      {bytes !== null && <Field name="Content">{formatBytes(bytes)}</Field>}
    </>
  );
}

interface CallLinkProps {
  readonly call: CallEntry;
  readonly text: string;
  readonly tabIndex?: number;
}

/** The subject of a call, with a link to its object, records or answer. */
export function CallLink({ call, text, tabIndex }: CallLinkProps) {
  const place = placeOfCall(call);
  if (place === null) return <bdi>{text}</bdi>;
  return (
    <Link to={place} {...(tabIndex !== undefined && { tabIndex })}>
      <bdi>{text}</bdi>
    </Link>
  );
}

interface FieldProps {
  readonly name: string;
  readonly children: ComponentChildren;
}

function Field({ name, children }: FieldProps) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <bdi class="code">{children}</bdi>
      </dd>
    </>
  );
}
