/** What a script notices of an injected fault: a delay, a lost connection, or a call that never ends. */

/**
 * The test that made the call has ended, and its code must not continue during the next test.
 * The runtime reports a promise that nothing can settle as code that hangs, so a timer waits.
 */
export async function neverContinue(): Promise<never> {
  for (;;) await delay(timeoutMillisecondsMax);
}

export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** The longest delay of `setTimeout`: 24 days. */
const timeoutMillisecondsMax = 2 ** 31 - 1;

/** The error of the platform, with its text. */
export function connectionLost(): Error {
  return Object.assign(new Error("Network connection lost."), { retryable: true });
}
