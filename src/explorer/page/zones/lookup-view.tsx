/** DNS lookup: the answer of the name server, as dig shows it, and the rules that made the answer. */
import { useEffect, useState } from "preact/hooks";
import type { LookupAnswer } from "../../api/zones-api.ts";
import { callApi } from "../api-client.ts";
import { useFetched } from "../frame/events.ts";
import { formatDuration } from "../frame/format.ts";
import { Link, useNavigation } from "../frame/navigation.tsx";
import { PageHeader } from "../frame/page-header.tsx";
import { Empty, Loading } from "../frame/parts.tsx";
import { useShortcuts } from "../frame/shortcuts.tsx";
import type { Place } from "../location.ts";
import { placeFinder } from "./record-rules.ts";
import { CheckField, TextField } from "../frame/form.tsx";
import { DnsProblemState, fetchRecordTypes } from "./zone-parts.tsx";

type LookupPlace = Extract<Place, { view: "lookup" }>;

const focusName = (): void => document.getElementById("lookup-name")?.focus();

export function LookupView({ place }: { readonly place: LookupPlace }) {
  const { go } = useNavigation();
  const [draft, setDraft] = useState(place);
  const question = `lookup ${place.name} ${place.type} ${place.dnssec === true}`;
  // The browser's "back" leads to the lookup before.
  useEffect(() => setDraft(place), [question]);
  const { data, problem, isLoading, reload } = useFetched(async (signal) => {
    if (place.name === "") return null;
    const query = { name: place.name, type: place.type, dnssec: String(place.dnssec === true) };
    return callApi<LookupAnswer>("/api/lookup", { query, signal });
  }, question);
  const types = useFetched(fetchRecordTypes, "record types");
  useShortcuts({ "/": { label: "Look up another name", act: focusName } });
  const submit = (): void => {
    go({ ...draft, name: draft.name.trim(), type: draft.type.trim().toUpperCase() });
    // The same question may have another answer by now.
    reload();
  };
  return (
    <>
      <PageHeader title="DNS lookup" onReload={reload} isLoading={isLoading} />
      <form
        class="lookup-form"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <TextField
          label="Name, or an IP address"
          value={draft.name}
          onValue={(name) => setDraft({ ...draft, name })}
        />
        <div class="field">
          <label htmlFor="lookup-type">Type</label>
          <input
            id="lookup-type"
            class="input code"
            list="lookup-types"
            placeholder="A, or PTR"
            autoComplete="off"
            value={draft.type}
            onInput={({ currentTarget }) => setDraft({ ...draft, type: currentTarget.value })}
          />
          <datalist id="lookup-types">
            {types.data?.lookupTypes.map((type) => (
              <option key={type} value={type} />
            ))}
          </datalist>
        </div>
        <CheckField
          label="DNSSEC"
          isChecked={draft.dnssec === true}
          onChange={(isOn) => {
            const { dnssec: _, ...rest } = draft;
            setDraft(isOn ? { ...rest, dnssec: true } : rest);
          }}
        />
        <button type="submit" class="button primary" disabled={draft.name.trim() === ""}>
          Look up
        </button>
      </form>
      {problem !== undefined && !isLoading ? (
        <DnsProblemState problem={problem} onRetry={reload} />
      ) : isLoading && data === undefined ? (
        <Loading what="the answer of the name server" />
      ) : data === undefined || data === null ? (
        <Empty title="No lookup yet">
          <p>
            The answer is shown as dig shows it, with the rules that made it: wildcards, aliases,
            delegations, proxied names. Without a type, a name asks for A and an address for PTR.
          </p>
        </Empty>
      ) : (
        <Answer answer={data} isLoading={isLoading} />
      )}
    </>
  );
}

const badges: Readonly<Record<string, string>> = { NOERROR: "good", NXDOMAIN: "warning" };

function Answer({ answer, isLoading }: { answer: LookupAnswer; isLoading: boolean }) {
  const { text, rcode, answers, reasons, milliseconds } = answer;
  const placeOf = placeFinder(reasons ?? []);
  return (
    <section class="lookup-answer" aria-label="Answer" aria-busy={isLoading}>
      <p class="toolbar" role="status">
        <span class={`badge ${badges[rcode] ?? "bad"}`}>{rcode}</span>
        <span>{formatDuration(milliseconds)}</span>
        {answers.length === 0 && <span>Not found: the answer has no records.</span>}
      </p>
      {answers.length > 0 && (
        <ul class="panel lookup-list" aria-label="Records of the answer">
          {answers.map(({ name, type, data }, index) => (
            <li key={index}>
              <span class="badge">{type}</span>
              <Placed place={placeOf(name)}>{name}</Placed>
              <bdi class="code">{data}</bdi>
            </li>
          ))}
        </ul>
      )}
      {/* A long line scrolls: the keyboard must reach it. */}
      <pre class="panel lookup-text" tabIndex={0} aria-label="The answer as dig shows it">
        {text}
      </pre>
      {reasons !== null && reasons.length > 0 && (
        <>
          <h2>Rules</h2>
          <ol class="panel lookup-list" aria-label="Rules">
            {reasons.map(({ rule, name, text: sentence }, index) => (
              <li key={index}>
                <span class="badge">{rule}</span>
                <Placed place={placeOf(name)}>{name}</Placed>
                <bdi>{sentence}</bdi>
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}

/** A name that leads to its records, if a zone of this project has it. */
function Placed({ place, children }: { readonly place: Place | null; readonly children: string }) {
  const name = <bdi class="code">{children}</bdi>;
  return place === null ? name : <Link to={place}>{name}</Link>;
}
