import { it } from "vitest";
/**
 * What the suite runs on: a bucket, and what the place it runs in can do.
 *
 * The suite speaks only the binding's own interface. Everything that differs between a script in
 * workerd and a Node process behind Miniflare's proxy is a member of this interface, so that the
 * tests themselves are the same text in both.
 */
import type { StoreBucket } from "../../../../src/types/store.ts";

export interface Subject {
  name: string;

  /**
   * Where the tests run. In workerd `FixedLengthStream` exists, and a stream of unknown length is
   * refused. In Node it does not exist, and a stream of unknown length is allowed.
   */
  runtime: "workerd" | "node";

  /** A bucket that nobody else uses. Keys are made unique per test by the suite. */
  bucket(): Promise<StoreBucket>;

  variants: {
    /** The same bucket, compatibility date 2022-08-03. */
    oldDate(): Promise<StoreBucket>;
    /** The same bucket, compatibility date 2022-08-03 and `store_list_honor_include`. */
    oldDateWithFlag(): Promise<StoreBucket>;
    /** The same bucket, compatibility date 2022-08-04: the first that honours `include`. */
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
 * A test of what only one of the two places can express. In the other it does not exist, instead
 * of being skipped: there is nothing left to be done about it.
 */
export function onlyIn(
  subject: Subject,
  runtime: Subject["runtime"],
): (name: string, test: () => void | Promise<void>) => void {
  // oxlint-disable-next-line vitest/expect-expect, vitest/valid-title -- what is handed on
  return (name, test) => void (subject.runtime === runtime && it(name, test));
}
