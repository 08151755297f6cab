/**
 * A fault of DNS queries as a form, and as the text of `--fault`:
 *
 *     dns:KIND:NAME[/TYPE][:OPTION,…]
 *
 * Only the first three colons separate. The server checks the text; the form has most of what a text
 * can say, and not all.
 */
import {
  always,
  describeTiming,
  readTiming,
  writeTiming,
  type FaultTimingForm,
} from "./fault-timing.ts";

interface DnsFaultKind {
  readonly label: string;
  /** Whether the fault has a length of time. */
  readonly hasTime?: boolean;
  /** Whether the name is a zone, with all names below. */
  readonly isOfZone?: boolean;
  readonly hasNoType?: boolean;
}

export const dnsFaultKinds: Readonly<Record<string, DnsFaultKind>> = {
  servfail: { label: "answers SERVFAIL" },
  refused: { label: "answers REFUSED" },
  drop: { label: "gives no answer" },
  delay: { label: "answers later", hasTime: true },
  truncate: { label: "truncates answers over UDP" },
  "wrong-id": { label: "answers with a wrong identifier" },
  lame: { label: "does not know the zone", isOfZone: true },
  stale: { label: "answers from the zones as they were when the fault was set" },
  "propagation-delay": { label: "answers from earlier zones", hasTime: true, isOfZone: true },
  "lost-notify": { label: "sends no NOTIFY", isOfZone: true, hasNoType: true },
};

export interface DnsFaultForm {
  readonly kind: string;
  /** `*` stands for any characters. */
  readonly name: string;
  /** Empty for all types */
  readonly type: string;
  /** Of kinds with a time: `2s` */
  readonly by: string;
  readonly timing: FaultTimingForm;
}

export const firstDnsFault: DnsFaultForm = {
  kind: "servfail",
  name: "*",
  type: "",
  by: "2s",
  timing: always,
};

export const isDnsFault = (text: string): boolean => text.startsWith("dns:");

export function writeDnsFault({ kind, name, type, by, timing }: DnsFaultForm): string {
  const { hasTime = false, hasNoType = false } = dnsFaultKinds[kind] ?? {};
  const target = type === "" || hasNoType ? name : `${name}/${type}`;
  const options = [...(hasTime ? [by] : []), ...writeTiming(timing)];
  return ["dns", kind, target, ...(options.length === 0 ? [] : [options.join(",")])].join(":");
}

/** `null` for a text that is no fault of queries, or says more than the form has. */
export function readDnsFault(text: string): DnsFaultForm | null {
  const [, kind, target, optionText] = /^dns:([^:]+):([^:]+)(?::(.*))?$/s.exec(text) ?? [];
  if (kind === undefined || target === undefined || !Object.hasOwn(dnsFaultKinds, kind)) {
    return null;
  }
  const options = optionText === undefined ? [] : optionText.split(",");
  const times = options.filter(isTime);
  const timing = readTiming(options.filter((option) => !isTime(option)));
  const isTimed = dnsFaultKinds[kind]?.hasTime === true;
  if (timing === null || times.length !== (isTimed ? 1 : 0)) return null;
  const slash = target.indexOf("/");
  return {
    kind,
    name: slash === -1 ? target : target.slice(0, slash),
    type: slash === -1 ? "" : target.slice(slash + 1),
    by: times[0]?.replace(/^by=/, "") ?? firstDnsFault.by,
    timing,
  };
}

/** A length of time stands alone, or after `by=`. */
function isTime(option: string): boolean {
  return /^(?:by=|[^=]*$)/.test(option);
}

/** What happens, without the names in the text. */
export function describeDnsFault({ kind, type, by, timing }: DnsFaultForm): string {
  const { label, hasTime = false } = dnsFaultKinds[kind] as DnsFaultKind;
  const time = hasTime ? ` by ${by}` : "";
  const which = describeTiming(timing, kind === "lost-notify" ? "message" : "query");
  return `the name server ${label}${time}, for ${which}${type === "" ? "" : ` of type ${type}`}`;
}
