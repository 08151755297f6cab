/** An entry with all that is known of it: a request with its calls on a time line, and its console. */
import type { ComponentChildren } from "preact";
import { counted, formatBytes } from "../../../base/format.ts";
import type { ActivityEntry, CallEntry, RequestEntry } from "../../api/activity.ts";
import { Link } from "../parts/link.tsx";
import { placeOfCall } from "./entry-place.ts";
import {
  durationText,
  kindLabels,
  outcomeText,
  outcomeTone,
  subjectOf,
  timeText,
} from "./entry-words.ts";
import { timeLineOf, type TimeLineBar } from "./time-line.ts";

export function EntryDetails({
  entry,
  onClose,
}: {
  readonly entry: ActivityEntry;
  readonly onClose: () => void;
}) {
  return (
    <aside class="live-details panel" aria-label="Details of the entry">
      <header>
        <h2>
          <span class={`live-kind kind-${entry.kind}`}>{kindLabels[entry.kind].one}</span>
          <span class="code">{entry.method}</span>
          <span class={`badge ${outcomeTone(entry)}`}>{outcomeText(entry)}</span>
        </h2>
        <button type="button" class="button quiet" aria-label="Close the details" onClick={onClose}>
          ✕
        </button>
      </header>
      {entry.note !== null && (
        <p class={entry.outcome === "error" ? "live-note bad" : "live-note"}>
          <bdi>{entry.note}</bdi>
        </p>
      )}
      {entry.kind === "request" ? <RequestParts request={entry} /> : <CallParts call={entry} />}
    </aside>
  );
}

function RequestParts({ request }: { readonly request: RequestEntry }) {
  const { calls, logs } = request;
  const line = timeLineOf(request);
  return (
    <>
      <dl class="live-fields">
        <Field name="URL">
          <bdi class="code">{request.url}</bdi>
        </Field>
        <Field name="Began">{timeText(request.at)}</Field>
        <Field name="Took">{durationText(request.milliseconds)}</Field>
      </dl>
      <section>
        <h3>{calls.length === 0 ? "No calls" : counted(calls.length, "call")}</h3>
        {calls.length > 0 && (
          <>
            <p class="live-scale" aria-hidden="true">
              <span>0 ms</span>
              <span>{durationText(line.milliseconds)}</span>
            </p>
            <ol class="live-calls">
              {line.bars.map((bar) => (
                <CallBar key={bar.call.id} bar={bar} />
              ))}
            </ol>
          </>
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

function CallBar({ bar }: { readonly bar: TimeLineBar }) {
  const { call, offset, startPercent, widthPercent } = bar;
  return (
    <li>
      <p class="live-call">
        <span class={`live-kind kind-${call.kind}`}>{kindLabels[call.kind].one}</span>
        <span class="code">{call.method}</span>
        <span class="live-call-subject code">
          <CallLink call={call} text={subjectOf(call)} />
        </span>
        {call.outcome !== "ok" && (
          <span class={`badge ${outcomeTone(call)}`}>{outcomeText(call)}</span>
        )}
        <span class="live-duration">{durationText(call.milliseconds)}</span>
      </p>
      <svg
        class={`live-bar kind-${call.kind}${call.outcome === "error" ? " bad" : ""}`}
        role="img"
        aria-label={`from ${durationText(offset)}, for ${durationText(call.milliseconds)}`}
        width="100%"
        height="6"
      >
        <rect class="live-bar-track" width="100%" height="6" rx="3" />
        <rect
          x={`${Math.min(startPercent, 99)}%`}
          width={`${Math.max(widthPercent, 1)}%`}
          height="6"
          rx="3"
        />
      </svg>
      {call.note !== null && (
        <p class={call.outcome === "error" ? "live-note bad" : "live-note"}>
          <bdi>{call.note}</bdi>
        </p>
      )}
    </li>
  );
}

const placeNames = { bucket: "Bucket", query: "Zone", api: "Zone", other: "Service" } as const;
const subjectNames = { bucket: "Key", query: "Name", api: "Path", other: "Subject" } as const;

function CallParts({ call }: { readonly call: CallEntry }) {
  return (
    <dl class="live-fields">
      <Field name="Made by">
        <bdi>{call.source}</bdi>
      </Field>
      {call.place !== "" && (
        <Field name={placeNames[call.kind]}>
          <span class="code">
            {call.kind === "api" ? <CallLink call={call} text={call.place} /> : call.place}
          </span>
        </Field>
      )}
      <Field name={subjectNames[call.kind]}>
        <span class="code">
          {call.kind === "api" ? call.subject : <CallLink call={call} text={call.subject || "–"} />}
        </span>
      </Field>
      {call.bytes !== null && <Field name="Content">{formatBytes(call.bytes)}</Field>}
      <Field name="Began">{timeText(call.at)}</Field>
      <Field name="Took">{durationText(call.milliseconds)}</Field>
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
