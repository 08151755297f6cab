/** Changes of the conditions, each as a function from all conditions to all conditions. */
import type { Conditions } from "../../api/conditions.ts";
import { isDnsFault } from "./dns-fault-form.ts";
import { writeMethods } from "./bucket-fault-form.ts";

export type ConditionsChange = (before: Conditions) => Conditions;

export const usualConditions: Conditions = {
  bucketFaults: [],
  dnsFaults: [],
  latencyMilliseconds: 0,
  clockOffsetMilliseconds: 0,
};

/** A fault that is in force already is not added again: hits are counted by the text. */
export function addFault(text: string): ConditionsChange {
  const field = isDnsFault(text) ? "dnsFaults" : "bucketFaults";
  return (before) =>
    before[field].some((fault) => fault.text === text)
      ? before
      : { ...before, [field]: [...before[field], { text }] };
}

export function removeFault(text: string): ConditionsChange {
  return (before) => ({
    ...before,
    bucketFaults: before.bucketFaults.filter((fault) => fault.text !== text),
    dnsFaults: before.dnsFaults.filter((fault) => fault.text !== text),
  });
}

export function setLatency(latencyMilliseconds: number): ConditionsChange {
  return (before) => ({ ...before, latencyMilliseconds });
}

export function moveClock(milliseconds: number): ConditionsChange {
  return (before) => ({
    ...before,
    clockOffsetMilliseconds: before.clockOffsetMilliseconds + milliseconds,
  });
}

export function setClockBack(before: Conditions): Conditions {
  return { ...before, clockOffsetMilliseconds: 0 };
}

export interface Preset {
  readonly label: string;
  readonly needsDns: boolean;
  readonly change: ConditionsChange;
}

export const presets: readonly Preset[] = [
  {
    label: "All writes fail",
    needsDns: false,
    change: addFault(`${writeMethods}:*:10001`),
  },
  { label: "Everything is 200 ms slower", needsDns: false, change: setLatency(200) },
  { label: "Reads drop half-way", needsDns: false, change: addFault("get:*:drop") },
  {
    label: "Writes are stored, their answers are lost",
    needsDns: false,
    change: addFault("put:*:drop:when=after"),
  },
  {
    label: "Half of the writes are too many requests",
    needsDns: false,
    change: addFault("put:*:10058:probability=0.5"),
  },
  {
    label: "The name server answers SERVFAIL",
    needsDns: true,
    change: addFault("dns:servfail:*"),
  },
  { label: "The name server does not answer", needsDns: true, change: addFault("dns:drop:*") },
];
