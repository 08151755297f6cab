/**
 * A request to the owner of a state folder, until the owner answers. For Node and for workerd.
 *
 * The owner may change at any time: a dev server ends, restarts or starts. The next owner listens at
 * the same address. So a client whose answer is lost waits for the next owner, and sends the request
 * again, with the same id: the owner executes a write once (`outcomes.ts`).
 */

const pauseMilliseconds = 20;
/** A process that becomes the owner starts a runtime, which takes longest on a busy machine. */
const patienceMilliseconds = 60_000;

interface Repetition<Answer> {
  /** Sends the request, each time with the same id. */
  readonly send: () => Promise<Answer>;
  /**
   * Called when `send` has failed. Throws when the request is not to be sent again: the owner has
   * refused the request, or the client loses its patience.
   *
   * @param isOver whether no owner has answered for as long as a client waits
   */
  readonly onFailure: (error: Error, isOver: boolean) => void | Promise<void>;
  /** When the owner was last known to answer. Default: the time of the first failure */
  readonly since?: number;
}

export async function repeatUntilAnswered<Answer>({
  send,
  onFailure,
  since,
}: Repetition<Answer>): Promise<Answer> {
  let silentSince = since;
  for (;;) {
    try {
      return await send();
    } catch (error) {
      silentSince ??= Date.now();
      await onFailure(error as Error, Date.now() - silentSince > patienceMilliseconds);
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds));
  }
}
