/**
 * Waits for work, but not for ever; whether it failed does not matter. Meanwhile the process
 * stays, even if nothing else holds it.
 */
export async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work.catch(() => {}), enough]);
  clearTimeout(timer);
}

/** Runtimes are killed, which takes no time; longer means that one of them is not there. */
export const stopMilliseconds = 5000;
