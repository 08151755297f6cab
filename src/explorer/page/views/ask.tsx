/** A question to the name server: the answer as dig shows it, and the rules that made the answer. */
import { useEffect, useState } from "preact/hooks";
import type { LookupAnswer } from "../../api/zones-api.ts";
import { callApi } from "../api-client.ts";
import type { Place } from "../location.ts";
import { Link } from "../parts/link.tsx";
import { useShortcuts } from "../parts/shortcuts.tsx";
import { Empty } from "../parts/states.tsx";
import { useFetched } from "../state/use-fetched.ts";
import { useNavigation } from "../state/use-place.ts";
import { DnsProblemState } from "../zones/dns-state.tsx";
import { placeReasons } from "../zones/reason-places.ts";
import { recordForms } from "../zones/record-forms.ts";
import "../styles/zones.css";

type AskPlace = Extract<Place, { view: "lookup" }>;

const typeNames = [...recordForms.map(({ type }) => type), "SOA", "CDS", "CDNSKEY", "ANY"];

export function AskView({ place }: { readonly place: AskPlace }) {
  const { go } = useNavigation();
  const [name, setName] = useState(place.name);
  const [type, setType] = useState(place.type);
  const [isDnssec, setDnssec] = useState(place.dnssec === true);
  const question = `${place.name} ${place.type} ${place.dnssec === true}`;
  // The browser's "back" leads to the question before.
  useEffect(() => {
    setName(place.name);
    setType(place.type);
    setDnssec(place.dnssec === true);
  }, [question]);
  const { data, problem, isLoading, reload } = useFetched<LookupAnswer | null>(async (signal) => {
    if (place.name === "") return null;
    const query = { name: place.name, type: place.type, dnssec: String(place.dnssec === true) };
    return callApi<LookupAnswer>("/api/lookup", { query, signal });
  }, question);
  useShortcuts({
    "/": { label: "Ask for another name", act: () => document.getElementById("ask-name")?.focus() },
  });
  const submit = (): void => {
    const asked: AskPlace = {
      view: "lookup",
      name: name.trim(),
      type: type.trim().toUpperCase() || "A",
      ...(isDnssec && { dnssec: true as const }),
    };
    go(asked);
    // The same question may have another answer by now.
    if (`${asked.name} ${asked.type} ${isDnssec}` === question) reload();
  };
  return (
    <>
      <h1>Ask the name server</h1>
      <form
        class="ask-form"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <div class="field ask-name">
          <label htmlFor="ask-name">Name, or an IP address</label>
          <input
            id="ask-name"
            class="input code"
            autoComplete="off"
            spellcheck={false}
            placeholder="www.example.com"
            required
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </div>
        <div class="field ask-type">
          <label htmlFor="ask-type">Type</label>
          <input
            id="ask-type"
            class="input code"
            list="ask-types"
            autoComplete="off"
            spellcheck={false}
            value={type}
            onInput={(event) => setType(event.currentTarget.value)}
          />
          <datalist id="ask-types">
            {typeNames.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
        </div>
        <label class="zones-check">
          <input
            type="checkbox"
            checked={isDnssec}
            onChange={(event) => setDnssec(event.currentTarget.checked)}
          />
          DNSSEC
        </label>
        <button type="submit" class="button primary">
          Ask
        </button>
      </form>
      {problem !== undefined && !isLoading ? (
        <DnsProblemState problem={problem} onRetry={reload} />
      ) : isLoading && data === undefined ? (
        <p class="state" role="status">
          Waiting for the answer of the name server…
        </p>
      ) : data === undefined || data === null ? (
        <Empty title="No question yet">
          <p>
            The answer is shown as dig shows it, with the rules that made it: wildcards, aliases,
            delegations, proxied names.
          </p>
        </Empty>
      ) : (
        <Answer answer={data} isLoading={isLoading} />
      )}
    </>
  );
}

function Answer({
  answer,
  isLoading,
}: {
  readonly answer: LookupAnswer;
  readonly isLoading: boolean;
}) {
  const { text, rcode, reasons, milliseconds } = answer;
  return (
    <section class="ask-answer" aria-label="Answer" aria-busy={isLoading}>
      <p class="toolbar" role="status">
        <span class={`badge ${badgeOf(rcode)}`}>{rcode}</span>
        <span>{milliseconds} ms</span>
      </p>
      {/* A long line scrolls: the keyboard must reach it. */}
      <pre class="panel ask-text" tabIndex={0} aria-label="The answer as dig shows it">
        {text}
      </pre>
      <h2>Rules</h2>
      {reasons === null || reasons.length === 0 ? (
        <p class="zones-hint">The server names no rules for this answer.</p>
      ) : (
        <ol class="panel ask-reasons">
          {placeReasons(reasons).map(({ rule, text: sentence, place }, index) => (
            <li key={index}>
              <span class="badge">{rule}</span>
              <bdi>{sentence}</bdi>
              {place !== null && (
                <Link to={place}>{rule === "zone" ? "Show the zone" : "Show the records"}</Link>
              )}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function badgeOf(rcode: string): string {
  if (rcode === "NOERROR") return "good";
  return rcode === "NXDOMAIN" ? "warning" : "bad";
}
