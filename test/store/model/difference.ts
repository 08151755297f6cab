/** The differences between two observations, leaf by leaf. */
import type { Call, Json } from "./operation.ts";
import type { Observation } from "./normalise.ts";

export interface Difference {
  readonly place: string;
  readonly call: Call;
  /** The path in the outcome, such as `value.0.objects.2.storageClass`. */
  readonly path: string;
  readonly ours: Json | undefined;
  readonly theirs: Json | undefined;
}

export function differencesBetween(ours: Observation, theirs: Observation): Difference[] {
  const { place, call } = ours;
  return leaves(ours.outcome as Json, theirs.outcome as Json).map(([path, a, b]) => ({
    place,
    call,
    path,
    ours: a,
    theirs: b,
  }));
}

type Leaf = [path: string, ours: Json | undefined, theirs: Json | undefined];

function leaves(ours: Json | undefined, theirs: Json | undefined, path = ""): Leaf[] {
  if (Object.is(ours, theirs)) return [];
  if (!isContainer(ours) || !isContainer(theirs) || Array.isArray(ours) !== Array.isArray(theirs)) {
    return [[path, ours, theirs]];
  }
  // Lists of different lengths are one difference, and so are an error and a value.
  if (Array.isArray(ours) && Array.isArray(theirs) && ours.length !== theirs.length) {
    return [[path, ours, theirs]];
  }
  if (path === "" && "error" in ours !== "error" in theirs) return [[path, ours, theirs]];
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  const [left, right] = [ours as Record<string, Json>, theirs as Record<string, Json>];
  return [...names].flatMap((name) =>
    leaves(left[name], right[name], path === "" ? name : `${path}.${name}`),
  );
}

function isContainer(value: Json | undefined): value is Json[] | { [name: string]: Json } {
  return value !== null && typeof value === "object";
}

export function formatDifference({ place, call, path, ours, theirs }: Difference): string {
  return [
    `operation ${place}: ${JSON.stringify(call)}`,
    `  at ${path || "the outcome"}`,
    `  ours:   ${brief(ours)}`,
    `  theirs: ${brief(theirs)}`,
  ].join("\n");
}

const briefLength = 2000;

function brief(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > briefLength ? `${text.slice(0, briefLength)}…` : text;
}
