/**
 * Failures on purpose: faults, latency and the store's clock, switched on and off. The server knows the
 * words of a fault (`--fault`) and the presets; the page has one line for the text.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Faults, FaultsState } from "../../api/faults.ts";
import { callApi, type ApiCallError } from "../api-client.ts";
import { useFetched, type Fetched } from "../frame/events.ts";
import { FormDialog, TextField } from "../frame/form.tsx";
import { countedNoun, spanWords } from "../frame/format.ts";
import { Icon } from "../frame/icon.tsx";
import { Link, useNavigation } from "../frame/navigation.tsx";
import { useNotices } from "../frame/notices.tsx";
import { PageHeader } from "../frame/page-header.tsx";
import { Button, Empty, Loading, Problem, Time } from "../frame/parts.tsx";
import { useShortcuts } from "../frame/shortcuts.tsx";

/** Hits are counted while a person looks. */
const pollMilliseconds = 1000;

type KnownFaults = Fetched<FaultsState>;

const noFaults: Faults = { faults: [], latencyMilliseconds: 0, clockOffsetMilliseconds: 0 };

/** For the frame of the page: the banner and the view show the same state. */
export function useFaults(): KnownFaults {
  return useFetched<FaultsState>(
    (signal) => callApi("/api/faults", { signal }),
    "faults",
    ({ topic }) => topic === "faults",
  );
}

interface FaultsChange {
  /** @returns whether the change is in force */
  readonly change: (change: Partial<Faults>) => Promise<boolean>;
  /** What the server says about a change that it refuses. */
  readonly refusal: string | null;
}

function useChange({ data, reload }: KnownFaults): FaultsChange {
  const [refusal, setRefusal] = useState<string | null>(null);
  const change = async (wanted: Partial<Faults>): Promise<boolean> => {
    const { faults, latencyMilliseconds, clockOffsetMilliseconds } = data as FaultsState;
    const texts = faults.map(({ text }) => text);
    const json = { faults: texts, latencyMilliseconds, clockOffsetMilliseconds, ...wanted };
    const refused = await callApi("/api/faults", { method: "PUT", json }).then(
      () => null,
      (error: ApiCallError) => error.message,
    );
    setRefusal(refused);
    reload();
    return refused === null;
  };
  return { change, refusal };
}

/** `a, b and c` */
const wordList = new Intl.ListFormat("en-GB");

/** `8 days ahead`, `1 hour behind` */
function offsetWords(milliseconds: number): string {
  return `${spanWords(Math.abs(milliseconds))} ${milliseconds < 0 ? "behind" : "ahead"}`;
}

/** What is on: `2 faults and a clock 8 days ahead`; empty if nothing is. */
function faultWords({ faults, latencyMilliseconds, clockOffsetMilliseconds }: FaultsState): string {
  const clock = `a clock ${offsetWords(clockOffsetMilliseconds)}`;
  return wordList.format([
    ...(faults.length > 0 ? [countedNoun(faults.length, "fault")] : []),
    ...(latencyMilliseconds > 0 ? [`${spanWords(latencyMilliseconds)} of latency`] : []),
    ...(clockOffsetMilliseconds === 0 ? [] : [clock]),
  ]);
}

interface FaultsProps {
  readonly faults: KnownFaults;
}

/** In every view while a fault is on, so that no failure on purpose is a riddle. */
export function FaultsBanner({ faults }: FaultsProps) {
  const notices = useNotices();
  const { place } = useNavigation();
  const { change, refusal } = useChange(faults);
  const words = faults.data === undefined ? "" : faultWords(faults.data);
  const problem = refusal ?? faults.data?.problem ?? null;
  const endAll = async (): Promise<void> => {
    if (await change(noFaults)) notices.show("All faults are off.");
  };
  // The element stays, because screen readers announce changes of an element that was there before.
  return (
    <div class="faults-banner" role="status">
      {(words !== "" || problem !== null) && (
        <div class="toolbar faults-banner-content">
          <Icon name="fault" />
          <p>
            {words !== "" && (
              <>
                <strong>Faults are on:</strong> {words}.
              </>
            )}{" "}
            {problem}
          </p>
          {place.view !== "faults" && <Link to={{ view: "faults" }}>Show</Link>}
          {words !== "" && <Button onClick={() => void endAll()}>Switch all off</Button>}
        </div>
      )}
    </div>
  );
}

export function FaultsView({ faults }: FaultsProps) {
  const { data, problem, reload } = faults;
  useEffect(() => {
    const timer = setInterval(reload, pollMilliseconds);
    return () => clearInterval(timer);
  }, [reload]);
  return (
    <>
      <PageHeader title="Faults" onReload={reload} />
      {problem !== undefined && <Problem problem={problem} onRetry={reload} />}
      {data === undefined ? (
        problem === undefined && <Loading what="the faults" />
      ) : (
        <>
          <p class="soft">
            See what the script does when the store or the name server fails. Faults end with the
            command that serves this page.
          </p>
          <FaultForm faults={faults} state={data} />
          <FaultList faults={faults} state={data} />
          <div class="faults-grid">
            <Latency faults={faults} state={data} />
            <Clock faults={faults} state={data} />
          </div>
        </>
      )}
    </>
  );
}

interface SectionProps {
  readonly title: string;
  readonly refusal: string | null;
  readonly children: ComponentChildren;
}

function Section({ title, refusal, children }: SectionProps) {
  const id = useId();
  return (
    <section class="panel stack faults-section" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
      <p class="field-problem" role="alert">
        {refusal}
      </p>
    </section>
  );
}

interface PartProps extends FaultsProps {
  readonly state: FaultsState;
}

/** Adds a fault: by a preset, or by its text. */
function FaultForm({ faults, state }: PartProps) {
  const form = useRef<HTMLFormElement>(null);
  const { change, refusal } = useChange(faults);
  const [text, setText] = useState("");
  const texts = state.faults.map((fault) => fault.text);
  const add = async (added: string): Promise<void> => {
    if (texts.includes(added) || (await change({ faults: [...texts, added] }))) setText("");
  };
  useShortcuts({
    n: { label: "New fault", act: () => form.current?.querySelector("input")?.focus() },
  });
  return (
    <Section title="Switch on" refusal={refusal}>
      <div class="toolbar faults-presets" role="group" aria-label="Common faults">
        {state.presets.map((preset) => (
          <Button
            key={preset.text}
            title={preset.text}
            isDisabled={texts.includes(preset.text)}
            onClick={() => void add(preset.text)}
          >
            {preset.label}
          </Button>
        ))}
      </div>
      <form
        ref={form}
        class="toolbar faults-line"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== "") void add(text.trim());
        }}
      >
        <TextField
          label="A fault as text, as in ledge dev --fault: put:photos/*:10001:times=2"
          value={text}
          onValue={setText}
        />
        <button type="submit" class="button primary">
          Switch on
        </button>
      </form>
    </Section>
  );
}

function FaultList({ faults, state }: PartProps) {
  const { change } = useChange(faults);
  if (state.faults.length === 0) return <Empty title="No fault is on" />;
  return (
    <ul class="panel lines fault-list" aria-label="Faults that are on">
      {state.faults.map(({ text, hits }) => (
        <li key={text}>
          <bdi class="code">{text}</bdi>
          <span class={hits > 0 ? "badge warning" : "badge"}>{countedNoun(hits, "hit")}</span>
          <Button
            label={`Switch off ${text}`}
            onClick={() => {
              const others = state.faults.filter((fault) => fault.text !== text);
              void change({ faults: others.map((fault) => fault.text) });
            }}
          >
            Switch off
          </Button>
        </li>
      ))}
    </ul>
  );
}

function Latency({ faults, state: { latencyMilliseconds } }: PartProps) {
  const id = useId();
  const { change, refusal } = useChange(faults);
  return (
    <Section title="Latency" refusal={refusal}>
      <p class="soft">Each call of a bucket takes this much longer.</p>
      <div class="toolbar faults-line">
        <div class="field">
          <label for={id}>Milliseconds</label>
          <input
            id={id}
            // The field has what a person types until the latency changes.
            key={latencyMilliseconds}
            class="input"
            type="number"
            min="0"
            step="50"
            defaultValue={String(latencyMilliseconds)}
            aria-invalid={refusal !== null}
            onChange={({ currentTarget }) =>
              void change({ latencyMilliseconds: Number(currentTarget.value) })
            }
          />
        </div>
        <Button
          isDisabled={latencyMilliseconds === 0}
          onClick={() => void change({ latencyMilliseconds: 0 })}
        >
          None
        </Button>
      </div>
    </Section>
  );
}

const hour = 3_600_000;
const moves = { "1 hour later": hour, "1 day later": 24 * hour, "8 days later": 8 * 24 * hour };
/** Uploads in progress that are older expire (the limit of the store). */
const uploadExpiry = 7 * 24 * hour;

function Clock({ faults, state }: PartProps) {
  const { change, refusal } = useChange(faults);
  const [asked, setAsked] = useState<{ readonly label: string; readonly offset: number }>();
  const { storeTime, clockOffsetMilliseconds } = state;
  const close = (): void => setAsked(undefined);
  const set = (offset: number): void => {
    close();
    void change({ clockOffsetMilliseconds: offset });
  };
  return (
    <Section title="Clock" refusal={refusal}>
      <p>
        <strong>
          <Time at={storeTime} />
        </strong>{" "}
        <span class={clockOffsetMilliseconds === 0 ? "badge" : "badge warning"}>
          {clockOffsetMilliseconds === 0
            ? "as the machine's clock"
            : offsetWords(clockOffsetMilliseconds)}
        </span>
      </p>
      <p class="soft">The store takes this time for new objects and for uploads.</p>
      <div class="toolbar">
        {Object.entries(moves).map(([label, milliseconds]) => {
          const offset = clockOffsetMilliseconds + milliseconds;
          const act = () => (offset >= uploadExpiry ? setAsked({ label, offset }) : set(offset));
          return (
            <Button key={label} onClick={act}>
              {label}
            </Button>
          );
        })}
        <Button isDisabled={clockOffsetMilliseconds === 0} onClick={() => set(0)}>
          Back to now
        </Button>
      </div>
      {asked !== undefined && (
        <FormDialog
          title={`Move the clock: ${asked.label}?`}
          action="Move the clock"
          isDanger
          onClose={close}
          onSubmit={async () => set(asked.offset)}
        >
          <p>
            Uploads in progress expire after seven days: the store aborts those that are older by
            then, and deletes their parts. They do not come back when the clock goes back.
          </p>
        </FormDialog>
      )}
    </Section>
  );
}
