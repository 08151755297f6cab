/** How often a fault hits, as the forms of faults have it, and as the options of its text. */
export type TimingKind = "always" | "times" | "nth" | "probability";

export interface FaultTimingForm {
  readonly kind: TimingKind;
  /** As a person has written it; it has no meaning for "always". */
  readonly value: string;
}

export const always: FaultTimingForm = { kind: "always", value: "" };

/** The values that a form begins with. */
export const timingDefaults: Readonly<Record<TimingKind, string>> = {
  always: "",
  times: "2",
  nth: "3",
  probability: "0.5",
};

export function writeTiming({ kind, value }: FaultTimingForm): string[] {
  return kind === "always" ? [] : [`${kind}=${value}`];
}

/** `null` for options that the form does not have. */
export function readTiming(options: readonly string[]): FaultTimingForm | null {
  const [option, ...others] = options;
  if (option === undefined) return always;
  const [, kind, value] = /^(times|nth|probability)=(.*)$/s.exec(option) ?? [];
  if (others.length > 0 || kind === undefined || value === undefined) return null;
  return { kind: kind as TimingKind, value };
}

export function describeTiming({ kind, value }: FaultTimingForm, noun: string): string {
  switch (kind) {
    case "always":
      return `every ${noun}`;
    case "times":
      return value === "1" ? `the first ${noun}` : `the first ${value} ${plural(noun)}`;
    case "nth":
      return `only ${noun} number ${value}`;
    case "probability": {
      const percent = Math.round(Number(value) * 1000) / 10;
      return `${percent}% of the ${plural(noun)}`;
    }
  }
}

function plural(noun: string): string {
  return noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}
