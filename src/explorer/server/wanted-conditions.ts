/** Conditions as the page and `--fault` give them, read and checked. */
import { UserError } from "../../base/user-error.ts";
import { parseFaultSpec, type ParsedFault } from "../../config/fault-spec.ts";
import { latencyMillisecondsMax } from "../../store/config/store-buckets.ts";
import type { Conditions } from "../api/conditions.ts";
import { CallError } from "./call.ts";

type BucketFaultPlan = Extract<ParsedFault, { subject: "bucket" }>["fault"];
type DnsFaultPlan = Extract<ParsedFault, { subject: "dns" }>["fault"];

export interface WantedConditions {
  readonly given: Conditions;
  readonly bucketFaults: readonly BucketFaultPlan[];
  readonly dnsFaults: readonly DnsFaultPlan[];
}

export const usualConditions: Conditions = {
  bucketFaults: [],
  dnsFaults: [],
  latencyMilliseconds: 0,
  clockOffsetMilliseconds: 0,
};

const day = 86_400_000;
/** A hundred years: the clock stays within the years that HTTP dates can express. */
const clockOffsetMillisecondsMax = 36_500 * day;

/**
 * @param bucketNames the buckets that exist
 * @param remoteNames those of them that are on an S3 service
 * @throws CallError that quotes what cannot be read
 */
export function readConditions(
  given: Conditions,
  bucketNames: readonly string[],
  remoteNames: readonly string[] = [],
): WantedConditions {
  const { latencyMilliseconds: latency, clockOffsetMilliseconds: offset } = given;
  if (!Number.isInteger(latency) || latency < 0 || latency > latencyMillisecondsMax) {
    throw new CallError(
      400,
      `The latency ${latency} is not a whole number of milliseconds from 0 to ${latencyMillisecondsMax}.`,
    );
  }
  if (!Number.isInteger(offset) || Math.abs(offset) > clockOffsetMillisecondsMax) {
    throw new CallError(
      400,
      `The clock cannot be moved by ${offset}: give a whole number of milliseconds, at most 100 years.`,
    );
  }
  const parse = (text: string): ParsedFault => parseFault(text, { bucketNames, remoteNames });
  // A fault that is given twice counts once: its text names it in the state.
  const bucketFaults = uniqueTexts(given.bucketFaults);
  const dnsFaults = uniqueTexts(given.dnsFaults);
  return {
    given: {
      bucketFaults: bucketFaults.map((text) => ({ text })),
      dnsFaults: dnsFaults.map((text) => ({ text })),
      latencyMilliseconds: latency,
      clockOffsetMilliseconds: offset,
    },
    bucketFaults: bucketFaults.map((text) => {
      const parsed = parse(text);
      if (parsed.subject === "bucket") return parsed.fault;
      throw new CallError(400, `The fault "${text}" is of DNS queries: list it in "dnsFaults".`);
    }),
    dnsFaults: dnsFaults.map((text) => {
      const parsed = parse(text);
      if (parsed.subject === "dns") return parsed.fault;
      throw new CallError(400, `The fault "${text}" is of buckets: list it in "bucketFaults".`);
    }),
  };
}

/**
 * The conditions that `--fault` asks for.
 *
 * @throws UserError that quotes the text of a fault that is none
 */
export function conditionsOfFaults(texts: readonly string[]): Conditions {
  const ofSubject = (subject: ParsedFault["subject"]): { text: string }[] =>
    texts.filter((text) => parseFaultSpec(text).subject === subject).map((text) => ({ text }));
  return { ...usualConditions, bucketFaults: ofSubject("bucket"), dnsFaults: ofSubject("dns") };
}

function parseFault(
  text: string,
  names: { readonly bucketNames: readonly string[]; readonly remoteNames: readonly string[] },
): ParsedFault {
  try {
    return parseFaultSpec(text, { name: "The fault", ...names });
  } catch (error) {
    throw error instanceof UserError ? new CallError(400, error.message) : error;
  }
}

function uniqueTexts(faults: readonly { readonly text: string }[]): string[] {
  return [...new Set(faults.map(({ text }) => text))];
}
