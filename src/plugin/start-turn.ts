/**
 * The turn of a Miniflare to start a runtime (`state/lock.ts`). All plugins of a Miniflare share
 * its turn.
 */
import { takeStartTurn } from "../state/lock.ts";

/** By the loopback port of each Miniflare. */
const turns = new Map<number, Promise<() => void>>();

/** @returns a function that ends the turn; a second call does nothing */
export async function shareStartTurn(
  persistPath: string,
  loopbackPort: number,
): Promise<() => void> {
  const turn = turns.get(loopbackPort) ?? takeStartTurn(persistPath);
  turns.set(loopbackPort, turn);
  const forget = (): void => {
    if (turns.get(loopbackPort) === turn) turns.delete(loopbackPort);
  };
  try {
    const end = await turn;
    return () => {
      forget();
      end();
    };
  } catch (error) {
    forget();
    throw error;
  }
}
