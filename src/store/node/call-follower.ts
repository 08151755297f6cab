/**
 * Follows the calls that other processes make at the owner of a store. The owner may change at any
 * time: the next owner is asked at the same socket.
 */
import type { FollowedCall, FollowedCalls } from "../client/message.ts";
import { EndpointClient } from "./endpoint-client.ts";
import { endpointPath } from "./store-owner.ts";

const askMilliseconds = 200;
/** A folder without an owner has no calls, and the next owner takes time to start. */
const silentMilliseconds = 1000;

export class CallFollower {
  readonly #endpoint: EndpointClient;
  readonly #onCalls: (calls: readonly FollowedCall[]) => void;
  #last: Pick<FollowedCalls, "run" | "last"> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(folder: string, onCalls: (calls: readonly FollowedCall[]) => void) {
    this.#endpoint = new EndpointClient(endpointPath(folder));
    this.#onCalls = onCalls;
    void this.#ask();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#endpoint.close();
  }

  async #ask(): Promise<void> {
    let pause = askMilliseconds;
    try {
      const query = this.#last === null ? "" : `?run=${this.#last.run}&after=${this.#last.last}`;
      const answer = await this.#endpoint.requestJson<FollowedCalls>(`/calls${query}`, {
        method: "GET",
      });
      if (this.#isClosed) return;
      this.#last = answer;
      if (answer.calls.length > 0) this.#onCalls(answer.calls);
    } catch {
      pause = silentMilliseconds;
    }
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#ask(), pause);
    // A process does not go on for the sake of its followers.
    this.#timer.unref();
  }
}
