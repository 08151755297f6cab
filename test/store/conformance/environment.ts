/** The control binding, and the suite's subject made of an environment that has all bindings. */
import type { StoreBucket } from "../../../src/types/store.ts";
import type { Subject } from "./suite/subject.ts";

interface StoreControl {
  now(): Promise<number>;
  advance(milliseconds: number): Promise<void>;
  resetClock(): Promise<void>;
}

/** What `bindings.ts` binds. */
export interface ConformanceEnv {
  BUCKET: StoreBucket;
  OLD_DATE: StoreBucket;
  OLD_DATE_FLAG: StoreBucket;
  HONOR_DATE: StoreBucket;
  TRAILING: StoreBucket;
  INFREQUENT: StoreBucket;
  STORE_CONTROL: StoreControl;
}

/** A subject whose environment is looked up when a test asks for it: in Node it takes a start. */
export function subjectOf(
  place: Pick<Subject, "name" | "runtime">,
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
