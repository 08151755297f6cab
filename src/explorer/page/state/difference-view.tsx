/** What differs between a saved state and another, or what is there now. */
import type { StateDifference } from "../../api/state.ts";
import { callApi } from "../api-client.ts";
import { useFetched } from "../frame/events.ts";
import { SelectField } from "../frame/form.tsx";
import { countedNoun, formatCount, shownKey } from "../frame/format.ts";
import { useNavigation } from "../frame/navigation.tsx";
import { PageHeader } from "../frame/page-header.tsx";
import { Empty, Loading, Problem } from "../frame/parts.tsx";
import type { Place } from "../location.ts";
import { groupChanges } from "./difference.ts";
import { useStates } from "./state-view.tsx";

/** More than a person reads. */
const shownMax = 200;
const tones = { added: "good", changed: "warning", removed: "bad" } as const;

type Difference = Extract<Place, { view: "difference" }>;

export function DifferenceView({ place }: { readonly place: Difference }) {
  const { go } = useNavigation();
  const { from, to } = place;
  const query = { from, to: to || undefined };
  const { data, problem, isLoading, reload } = useFetched<StateDifference>(
    (signal) => callApi("/api/state/diff", { query, signal }),
    JSON.stringify(query),
    ({ topic }) => topic === "state",
  );
  const states = useStates().data?.states ?? [];
  const names = [...new Set([from, ...(to === "" ? [] : [to]), ...states.map(({ name }) => name)])];
  return (
    <>
      <PageHeader
        title="Difference"
        crumbs={[{ label: "State", to: { view: "state" } }]}
        counts={data && countedNoun(data.changes.length, "change")}
        onReload={reload}
        isLoading={isLoading}
      />
      <div class="toolbar faults-line">
        <SelectField
          label="From"
          value={from}
          options={names}
          onValue={(name) => go({ ...place, from: name }, true)}
        />
        <SelectField
          label="To"
          value={to}
          options={[["", "What is there now"], ...names]}
          onValue={(name) => go({ ...place, to: name }, true)}
        />
      </div>
      {problem !== undefined && <Problem problem={problem} onRetry={reload} />}
      {data === undefined && problem === undefined && <Loading what="the difference" />}
      {data?.changes.length === 0 && (
        <Empty title="No difference">
          <p>
            {from} and {to || "what is there now"} have the same content.
          </p>
        </Empty>
      )}
      {groupChanges(data?.changes ?? []).map(({ title, counts, changes }) => (
        <section key={title} class="panel" aria-label={title}>
          <header class="upload-header">
            <h2>
              <bdi>{shownKey(title)}</bdi>
            </h2>
            <p class="soft">{counts}</p>
          </header>
          <ul class="lines">
            {changes.slice(0, shownMax).map(({ what, change }) => (
              <li key={`${change} ${what}`}>
                <span class={`badge ${tones[change]}`}>{change}</span>
                <bdi class="code">{shownKey(what)}</bdi>
              </li>
            ))}
            {changes.length > shownMax && (
              <li class="soft">and {formatCount(changes.length - shownMax)} more</li>
            )}
          </ul>
        </section>
      ))}
    </>
  );
}
