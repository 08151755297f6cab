/** DNS lookup: the answer of the name server, as dig shows it, and the rules that made the answer. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { LookupAnswer } from "../../api/zones-api.ts";
import { callApi } from "../api-client.ts";
import { useFetched } from "../frame/events.ts";
import { CheckField, SelectField, TextField } from "../frame/form.tsx";
import { formatDuration } from "../frame/format.ts";
import { Link, useNavigation } from "../frame/navigation.tsx";
import { PageHeader } from "../frame/page-header.tsx";
import { Empty, Loading } from "../frame/parts.tsx";
import { useShortcuts } from "../frame/shortcuts.tsx";
import type { Place } from "../location.ts";
import { placeFinder } from "./record-rules.ts";
import { DnsProblem, fetchRecordTypes } from "./zone-parts.tsx";

type LookupPlace = Extract<Place, { view: "lookup" }>;

export function LookupView({ place }: { readonly place: LookupPlace }) {
  const { go } = useNavigation();
  const [draft, setDraft] = useState(place);
  const form = useRef<HTMLFormElement>(null);
  const { name, type, dnssec = false } = place;
  const question = `lookup ${name} ${type} ${dnssec}`;
  // The browser's "back" leads to the lookup before.
  useEffect(() => setDraft(place), [question]);
  const { data, problem, isLoading, reload } = useFetched(async (signal) => {
    if (name === "") return null;
    const query = { name, type, dnssec: String(dnssec) };
    return callApi<LookupAnswer>("/api/lookup", { query, signal });
  }, question);
  const types = useFetched(fetchRecordTypes, "record types").data?.lookupTypes ?? [];
  useShortcuts({
    "/": {
      label: "Look up another name",
      act: () => form.current?.querySelector("input")?.focus(),
    },
  });
  return (
    <>
      <PageHeader title="DNS lookup" onReload={reload} isLoading={isLoading} />
      <form
        ref={form}
        class="toolbar lookup-form"
        onSubmit={(event) => {
          event.preventDefault();
          go({ ...draft, name: draft.name.trim() });
          // The same question may have another answer by now.
          reload();
        }}
      >
        <TextField
          label="Name, or an IP address"
          value={draft.name}
          onValue={(next) => setDraft({ ...draft, name: next })}
        />
        <SelectField
          label="Type"
          value={draft.type}
          options={[["", "A, or PTR"], ...new Set([draft.type, ...types].filter(Boolean))]}
          onValue={(next) => setDraft({ ...draft, type: next })}
        />
        <CheckField
          label="DNSSEC"
          isChecked={draft.dnssec === true}
          onChange={(next) => setDraft({ ...draft, dnssec: next })}
        />
        <button type="submit" class="button primary" disabled={draft.name.trim() === ""}>
          Look up
        </button>
      </form>
      {problem !== undefined && !isLoading ? (
        <DnsProblem problem={problem} onRetry={reload} />
      ) : data ? (
        <Answer answer={data} isLoading={isLoading} />
      ) : data === null ? (
        <Empty title="No lookup yet">
          <p>
            The answer is shown as dig shows it, with the rules that made it: wildcards, aliases,
            delegations, proxied names. Without a type, a name asks for A and an address for PTR.
          </p>
        </Empty>
      ) : (
        <Loading what="the answer of the name server" />
      )}
    </>
  );
}

const badges: Readonly<Record<string, string>> = { NOERROR: "good", NXDOMAIN: "warning" };

function Answer({ answer, isLoading }: { answer: LookupAnswer; isLoading: boolean }) {
  const { text, rcode, answers, milliseconds } = answer;
  const reasons = answer.reasons ?? [];
  const placeOf = placeFinder(reasons);
  const line = (index: number, badge: string, name: string, rest: ComponentChildren) => {
    const place = placeOf(name);
    const shown = <bdi class="code">{name}</bdi>;
    return (
      <li key={index}>
        <span class="badge">{badge}</span>
        {place === null ? shown : <Link to={place}>{shown}</Link>}
        {rest}
      </li>
    );
  };
  return (
    <section class="stack" aria-label="Answer" aria-busy={isLoading}>
      <p class="toolbar" role="status">
        <span class={`badge ${badges[rcode] ?? "bad"}`}>{rcode}</span>
        <span>{formatDuration(milliseconds)}</span>
        {answers.length === 0 && <span>Not found: the answer has no records.</span>}
      </p>
      {answers.length > 0 && (
        <ul class="panel lines" aria-label="Records of the answer">
          {answers.map(({ name, type, data }, index) =>
            line(index, type, name, <bdi class="code">{data}</bdi>),
          )}
        </ul>
      )}
      {/* A long line scrolls: the keyboard must reach it. */}
      <pre class="panel" tabIndex={0} aria-label="The answer as dig shows it">
        {text}
      </pre>
      {reasons.length > 0 && (
        <>
          <h2>Rules</h2>
          <ol class="panel lines" aria-label="Rules">
            {reasons.map(({ rule, name, text: sentence }, index) =>
              line(index, rule, name, <bdi>{sentence}</bdi>),
            )}
          </ol>
        </>
      )}
    </section>
  );
}
