/** Waits for a condition: no test sleeps for a time and hopes. */
import { setTimeout as delay } from "node:timers/promises";

const pollMilliseconds = 15;

/** @throws when the condition does not become true in time; `describe` says what is instead */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  describe: () => string,
  timeoutMilliseconds = 90_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMilliseconds;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Waited in vain: ${describe()}`);
    await delay(pollMilliseconds);
  }
}
