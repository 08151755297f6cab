/**
 * Failures on purpose: faults, latency and the store's clock, switched on and off. The server knows the
 * words of a fault (`--fault`) and the presets; the page has one line for the text.
 */
import type { Faults, FaultsState } from "../../api/faults.ts";
import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useId, useRef, useState } from "preact/hooks";
import { callApi, type ApiCallError } from "../api-client.ts";
import { Dialog } from "../frame/dialog.tsx";
import { useFetched } from "../frame/events.ts";
import { countedNoun } from "../frame/format.ts";
import { Icon } from "../frame/icon.tsx";
import { Link, useNavigation } from "../frame/navigation.tsx";
import { useNotices } from "../frame/notices.tsx";
import { PageHeader } from "../frame/page-header.tsx";
import { Empty, Loading, Problem, Time } from "../frame/parts.tsx";
import { useShortcuts } from "../frame/shortcuts.tsx";
import { faultWords, offsetWords } from "./fault-words.ts";

/** Hits are counted while a person looks. */
const pollMilliseconds = 1000;

interface KnownFaults {
  readonly state: FaultsState | undefined;
  readonly problem: ApiCallError | undefined;
  readonly isChanging: boolean;
  readonly reload: () => void;
  readonly refresh: () => void;
  /** @returns the refusal of the server, or `null` if the change is in force */
  readonly change: (change: Partial<Faults>) => Promise<string | null>;
}

const nothing: Faults = { faults: [], latencyMilliseconds: 0, clockOffsetMilliseconds: 0 };

const readFaults = (signal?: AbortSignal): Promise<FaultsState> =>
  callApi("/api/faults", signal === undefined ? {} : { signal });
const replaceFaults = (json: Faults): Promise<FaultsState> =>
  callApi("/api/faults", { method: "PUT", json });

const FaultsContext = createContext<KnownFaults | null>(null);

function useFaults(): KnownFaults {
  return useContext(FaultsContext) as KnownFaults;
}

/** The banner and the view show the same state. */
export function FaultsProvider({ children }: { readonly children: ComponentChildren }) {
  const [isChanging, setChanging] = useState(false);
  const { data, problem, reload, refresh } = useFetched(
    readFaults,
    "faults",
    ({ topic }) => topic === "faults",
  );
  const change = async (wanted: Partial<Faults>): Promise<string | null> => {
    setChanging(true);
    try {
      // The server replaces everything: another tab may have changed something since.
      const { faults, latencyMilliseconds, clockOffsetMilliseconds } = await readFaults();
      const texts = faults.map(({ text }) => text);
      await replaceFaults({
        faults: texts,
        latencyMilliseconds,
        clockOffsetMilliseconds,
        ...wanted,
      });
      return null;
    } catch (error) {
      return (error as ApiCallError).message;
    } finally {
      refresh();
      setChanging(false);
    }
  };
  return (
    <FaultsContext.Provider value={{ state: data, problem, isChanging, reload, refresh, change }}>
      {children}
    </FaultsContext.Provider>
  );
}

/** In every view while a fault is on, so that no failure on purpose is a riddle. */
export function FaultsBanner() {
  const { state, change } = useFaults();
  const notices = useNotices();
  const { place } = useNavigation();
  const words = state === undefined ? null : faultWords(state);
  const endAll = async (): Promise<void> => {
    const refusal = await change(nothing);
    if (refusal === null) notices.show("All faults are off.");
    else notices.show(refusal, { tone: "problem" });
  };
  // The element stays, because screen readers announce changes of an element that was there before.
  return (
    <div class="faults-banner" role="status">
      {(words !== null || (state?.problem ?? null) !== null) && (
        <div class="toolbar faults-banner-content">
          <Icon name="fault" />
          <p>
            {words !== null && (
              <>
                <strong>Faults are on:</strong> {words}.
              </>
            )}{" "}
            {state?.problem}
          </p>
          {place.view !== "faults" && <Link to={{ view: "faults" }}>Show</Link>}
          {words !== null && (
            <button type="button" class="button" onClick={() => void endAll()}>
              Switch all off
            </button>
          )}
        </div>
      )}
    </div>
  );
}

export function FaultsView() {
  const { state, problem, reload, refresh } = useFaults();
  useEffect(() => {
    const timer = setInterval(refresh, pollMilliseconds);
    return () => clearInterval(timer);
  }, [refresh]);
  return (
    <>
      <PageHeader title="Faults" onReload={reload} />
      {problem !== undefined && <Problem problem={problem} onRetry={reload} />}
      {state === undefined ? (
        problem === undefined && <Loading what="the faults" />
      ) : (
        <>
          <p class="soft">
            See what the script does when the store or the name server fails. Faults end with the
            command that serves this page.
          </p>
          <FaultForm state={state} />
          <FaultList state={state} />
          <div class="faults-grid">
            <Latency milliseconds={state.latencyMilliseconds} />
            <Clock state={state} />
          </div>
        </>
      )}
    </>
  );
}

/** Adds a fault: by a preset, or by its text. */
function FaultForm({ state }: { readonly state: FaultsState }) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const { change, isChanging } = useFaults();
  const [text, setText] = useState("");
  const [refusal, setRefusal] = useState<string | null>(null);
  const texts = state.faults.map((fault) => fault.text);
  const add = async (added: string): Promise<void> => {
    const refused = texts.includes(added) ? null : await change({ faults: [...texts, added] });
    setRefusal(refused);
    if (refused === null) setText("");
  };
  useShortcuts({ n: { label: "New fault", act: () => field.current?.focus() } });
  return (
    <section class="panel stack faults-section" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>Switch on</h2>
      <div class="toolbar faults-presets" role="group" aria-label="Common faults">
        {state.presets.map((preset) => (
          <button
            key={preset.text}
            type="button"
            class="button"
            title={preset.text}
            disabled={isChanging || texts.includes(preset.text)}
            onClick={() => void add(preset.text)}
          >
            {preset.label}
          </button>
        ))}
      </div>
      <form
        class="toolbar faults-line"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") void add(text.trim());
        }}
      >
        <div class="field">
          <label for={id}>
            A fault as text, as in <code>ledge dev --fault</code>
          </label>
          <input
            id={id}
            ref={field}
            class="input code"
            value={text}
            placeholder="put:photos/*:10001:times=2"
            autocomplete="off"
            spellcheck={false}
            aria-invalid={refusal !== null}
            aria-describedby={`${id}-problem`}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </div>
        <button type="submit" class="button primary" disabled={isChanging}>
          Switch on
        </button>
      </form>
      <p id={`${id}-problem`} class="field-problem" role="alert">
        {refusal}
      </p>
    </section>
  );
}

function FaultList({ state }: { readonly state: FaultsState }) {
  const { change, isChanging } = useFaults();
  const { faults } = state;
  if (faults.length === 0) return <Empty title="No fault is on" />;
  const remove = (text: string): void => {
    const others = faults.filter((fault) => fault.text !== text);
    void change({ faults: others.map((fault) => fault.text) });
  };
  return (
    <ul class="panel lines fault-list" aria-label="Faults that are on">
      {faults.map(({ text, hits }) => (
        <li key={text}>
          <bdi class="code">{text}</bdi>
          <span class={hits > 0 ? "badge warning" : "badge"}>{countedNoun(hits, "hit")}</span>
          <button
            type="button"
            class="button"
            disabled={isChanging}
            aria-label={`Switch off ${text}`}
            onClick={() => remove(text)}
          >
            Switch off
          </button>
        </li>
      ))}
    </ul>
  );
}

function Latency({ milliseconds }: { readonly milliseconds: number }) {
  const id = useId();
  const { change } = useFaults();
  /** What a person is about to set, which is sent when the field is left. */
  const [draft, setDraft] = useState<string | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  const send = async (text: string): Promise<void> => {
    const wanted = Number(text);
    const isChange = Number.isFinite(wanted) && wanted !== milliseconds;
    setRefusal(isChange ? await change({ latencyMilliseconds: wanted }) : null);
    setDraft(null);
  };
  return (
    <section class="panel stack faults-section" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>Latency</h2>
      <p class="soft">Each call of a bucket takes this much longer.</p>
      <div class="toolbar faults-line">
        <div class="field">
          <label for={id}>Milliseconds</label>
          <input
            id={id}
            class="input"
            type="number"
            min="0"
            step="50"
            value={draft ?? String(milliseconds)}
            aria-invalid={refusal !== null}
            aria-describedby={`${id}-problem`}
            onInput={(event) => setDraft(event.currentTarget.value)}
            onChange={(event) => void send(event.currentTarget.value)}
          />
        </div>
        <button
          type="button"
          class="button"
          disabled={milliseconds === 0}
          onClick={() => void send("0")}
        >
          None
        </button>
      </div>
      <p id={`${id}-problem`} class="field-problem" role="alert">
        {refusal}
      </p>
    </section>
  );
}

const hour = 3_600_000;
const day = 24 * hour;
const moves = [
  { label: "1 hour later", milliseconds: hour },
  { label: "1 day later", milliseconds: day },
  { label: "8 days later", milliseconds: 8 * day },
] as const;
/** Uploads in progress that are older expire (the limit of the store). */
const uploadExpiry = 7 * day;

function Clock({ state }: { readonly state: FaultsState }) {
  const id = useId();
  const { change, isChanging } = useFaults();
  const [asked, setAsked] = useState<(typeof moves)[number] | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  const { storeTime, clockOffsetMilliseconds: offset } = state;
  const set = async (milliseconds: number): Promise<void> => {
    setAsked(null);
    setRefusal(await change({ clockOffsetMilliseconds: milliseconds }));
  };
  return (
    <section class="panel stack faults-section" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>Clock</h2>
      <p>
        <strong>
          <Time at={storeTime} />
        </strong>{" "}
        <span class={offset === 0 ? "badge" : "badge warning"}>
          {offset === 0 ? "as the machine's clock" : offsetWords(offset)}
        </span>
      </p>
      <p class="soft">The store takes this time for new objects and for uploads.</p>
      <div class="toolbar">
        {moves.map((move) => (
          <button
            key={move.label}
            type="button"
            class="button"
            disabled={isChanging}
            onClick={() =>
              offset + move.milliseconds >= uploadExpiry
                ? setAsked(move)
                : void set(offset + move.milliseconds)
            }
          >
            {move.label}
          </button>
        ))}
        <button
          type="button"
          class="button"
          disabled={offset === 0 || isChanging}
          onClick={() => void set(0)}
        >
          Back to now
        </button>
      </div>
      <p class="field-problem" role="alert">
        {refusal}
      </p>
      {asked !== null && (
        <Dialog title={`Move the clock: ${asked.label}?`} onClose={() => setAsked(null)}>
          <p>
            Uploads in progress expire after seven days: the store aborts those that are older by
            then, and deletes their parts. They do not come back when the clock goes back.
          </p>
          <div class="dialog-actions">
            <button type="button" class="button" onClick={() => setAsked(null)}>
              Cancel
            </button>
            <button
              type="button"
              class="button danger"
              onClick={() => void set(offset + asked.milliseconds)}
            >
              Move the clock
            </button>
          </div>
        </Dialog>
      )}
    </section>
  );
}
