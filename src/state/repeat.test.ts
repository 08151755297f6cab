import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { repeatUntilAnswered } from "./repeat.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it("repeatUntilAnswered() sends a request again until it is answered", async () => {
  const send = vi.fn<() => Promise<string>>().mockRejectedValueOnce(new Error("lost"));
  send.mockRejectedValueOnce(new Error("lost")).mockResolvedValue("answer");
  const onFailure = vi.fn();
  const answer = repeatUntilAnswered({ send, onFailure });
  await vi.runAllTimersAsync();
  expect(await answer).toBe("answer");
  expect(onFailure.mock.calls).toEqual([
    [new Error("lost"), false],
    [new Error("lost"), false],
  ]);
});

it("repeatUntilAnswered() says after a minute of silence that the patience is over", async () => {
  const answer = repeatUntilAnswered({
    send: () => Promise.reject(new Error("lost")),
    onFailure(error, isOver) {
      if (isOver) throw new Error("over", { cause: error });
    },
  });
  const failure = answer.catch((error: Error) => error.message);
  await vi.advanceTimersByTimeAsync(60_000);
  const later = vi.advanceTimersByTimeAsync(1000);
  expect(await failure).toBe("over");
  await later;
});

it("repeatUntilAnswered() does not repeat what `onFailure` refuses", async () => {
  const send = vi.fn(() => Promise.reject(new Error("refused")));
  await expect(repeatUntilAnswered({ send, onFailure: refuse })).rejects.toThrow("refused");
  expect(send).toHaveBeenCalledTimes(1);
});

function refuse(error: Error): never {
  throw error;
}
