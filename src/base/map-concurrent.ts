/** Work on many things at once, as they come, but never on more than so many. */
export async function mapConcurrent<Item>(
  items: AsyncIterable<Item>,
  lanes: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]();
  let failed = false;
  const lane = async (): Promise<void> => {
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
  const outcomes = await Promise.allSettled(Array.from({ length: lanes }, lane));
  const failure = outcomes.find((outcome) => outcome.status === "rejected");
  if (failure === undefined) return;
  await iterator.return?.();
  throw failure.reason;
}
