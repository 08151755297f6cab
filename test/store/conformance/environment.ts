/** The bindings as a type, and the suite's subject made from an environment with these bindings. */
import type { StoreBucket } from "../../../src/types/store.ts";
import type { Subject } from "./suite/subject.ts";

interface StoreControl {
  now(): Promise<number>;
  advance(milliseconds: number): Promise<void>;
  resetClock(): Promise<void>;
}

/** The bindings of `bindings.ts`. */
export interface ConformanceEnv {
  BUCKET: StoreBucket;
  OLD_DATE: StoreBucket;
  OLD_DATE_FLAG: StoreBucket;
  HONOR_DATE: StoreBucket;
  TRAILING: StoreBucket;
  INFREQUENT: StoreBucket;
  STORE_CONTROL: StoreControl;
}

/** A subject that gets its environment when a test first needs it: in Node, a runtime must start. */
export function subjectOf(
  place: Pick<Subject, "name" | "runtime" | "deviations">,
  environment: () => Promise<ConformanceEnv>,
): Subject {
  return {
    ...place,
    bucket: async () => (await environment()).BUCKET,
    variants: {
      oldDate: async () => (await environment()).OLD_DATE,
      oldDateWithFlag: async () => (await environment()).OLD_DATE_FLAG,
      honorDate: async () => (await environment()).HONOR_DATE,
      trailingDelimiter: async () => (await environment()).TRAILING,
      infrequentByDefault: async () => (await environment()).INFREQUENT,
    },
    clock: {
      now: async () => (await environment()).STORE_CONTROL.now(),
      advance: async (milliseconds) => (await environment()).STORE_CONTROL.advance(milliseconds),
      reset: async () => (await environment()).STORE_CONTROL.resetClock(),
    },
  };
}
