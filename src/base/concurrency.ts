/** Works on items as they arrive, on `concurrency` of them at once, until one fails. */
export async function mapConcurrent<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator =
    Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let failed = false;
  const workThrough = async (): Promise<void> => {
    while (!failed) {
      const { done, value } = await iterator.next();
      if (done === true) return;
      try {
        await work(value);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: concurrency }, workThrough));
  const failure = outcomes.find((outcome) => outcome.status === "rejected");
  if (failure === undefined) return;
  await iterator.return?.();
  throw failure.reason;
}

/** Runtimes are killed, which takes no time. A stop that takes longer waits for a dead process. */
export const stopMilliseconds = 5000;

/** Settles when the work succeeds or fails, or after the given time. Keeps the process running. */
export async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  await Promise.race([work.catch(() => {}), promise]);
  clearTimeout(timer);
}
