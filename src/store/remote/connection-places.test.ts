import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ConnectionPlaces, type Place } from "./connection-places.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Notes the order in which the requests get a place. */
function takers(places: ConnectionPlaces) {
  const order: string[] = [];
  const held = new Map<string, Place>();
  return {
    order,
    take: async (name: string, milliseconds = 60_000): Promise<void> => {
      const place = await places.take(milliseconds);
      order.push(place === null ? `${name} gave up` : name);
      if (place !== null) held.set(name, place);
    },
    release: (name: string): void => held.get(name)?.release(),
    held: (name: string): Place => held.get(name) as Place,
  };
}

it("take() gives places in the order of the requests, and no more than there are", async () => {
  const { order, take, release } = takers(new ConnectionPlaces(2));
  for (const name of ["a", "b", "c", "d"]) void take(name);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(order).toEqual(["a", "b"]);
  release("b");
  void take("e");
  await vi.advanceTimersByTimeAsync(0);
  expect(order).toEqual(["a", "b", "c"]);
  release("a");
  release("c");
  await vi.advanceTimersByTimeAsync(0);
  expect(order).toEqual(["a", "b", "c", "d", "e"]);
});

it("take() gives up after its time, and leaves the queue", async () => {
  const { order, take, release } = takers(new ConnectionPlaces(1));
  void take("a");
  void take("b", 400);
  void take("c");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(order).toEqual(["a", "b gave up"]);
  release("a");
  await vi.advanceTimersByTimeAsync(0);
  expect(order).toEqual(["a", "b gave up", "c"]);
});

it("an answer that is not read gives its place back, and one that is waited for does not", async () => {
  const { order, take, held } = takers(new ConnectionPlaces(2));
  void take("unread");
  void take("read");
  await vi.advanceTimersByTimeAsync(0);
  held("unread").isAtWork = false;
  held("read").isAtWork = false;
  held("read").isAtWork = true;
  for (const name of ["c", "d"]) void take(name);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(order).toEqual(["unread", "read", "c"]);
});

it("a request whose code was dropped loses its place, and its turn", async () => {
  const places = new ConnectionPlaces(1);
  const { order, take } = takers(places);
  void take("dropped");
  void take("dropped in the queue");
  await vi.advanceTimersByTimeAsync(300);
  // workerd drops the timers of a request whose client went away.
  vi.clearAllTimers();
  void take("next");
  await vi.advanceTimersByTimeAsync(3_000);
  expect(order).toEqual(["dropped", "next"]);
});
