/**
 * The subject of the suite: a bucket, and the properties of the runtime.
 *
 * The suite uses only the interface of the binding. Every difference between a script in workerd
 * and a Node process behind Miniflare's proxy is a member of this interface, so the tests are the
 * same code in both.
 */
import { it } from "vitest";
import type { StoreBucket } from "../../../../src/types/store.ts";
import type { Deviations } from "./deviations.ts";

export interface Subject {
  name: string;

  /** Tests that fail on this subject. */
  deviations?: Deviations;

  /**
   * Where the tests run. workerd has `FixedLengthStream`, and refuses a stream of unknown length.
   * Node does not have the class, and allows a stream of unknown length.
   */
  runtime: "workerd" | "node";

  /** A bucket for the suite alone. The suite uses unique keys for each test. */
  bucket(): Promise<StoreBucket>;

  variants: {
    /** The same bucket, compatibility date 2022-08-03. */
    oldDate(): Promise<StoreBucket>;
    /** The same bucket, compatibility date 2022-08-03 and `store_list_honor_include`. */
    oldDateWithFlag(): Promise<StoreBucket>;
    /** The same bucket, compatibility date 2022-08-04: the first date that honours `include`. */
    honorDate(): Promise<StoreBucket>;
    /** The same bucket with `store_list_trailing_delimiter`. */
    trailingDelimiter(): Promise<StoreBucket>;
    /** Another bucket, whose default storage class is `InfrequentAccess`. */
    infrequentByDefault(): Promise<StoreBucket>;
  };

  /** Moves the store's clock. */
  clock: {
    now(): Promise<number>;
    advance(milliseconds: number): Promise<void>;
    reset(): Promise<void>;
  };
}

/**
 * Defines a test for one runtime only. In the other runtime the test does not exist, rather than
 * being skipped, because the runtime cannot express the case.
 */
export function onlyIn(
  subject: Subject,
  runtime: Subject["runtime"],
): (name: string, test: () => void | Promise<void>) => void {
  // oxlint-disable-next-line vitest/expect-expect, vitest/valid-title -- the caller passes the name and the test
  return (name, test) => void (subject.runtime === runtime && it(name, test));
}
