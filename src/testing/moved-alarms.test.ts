import { expect, it, vi } from "vitest";
import { MovedAlarms } from "./moved-alarms.ts";

/** The storage of the runtime: it knows real times alone. */
class Storage {
  real: number | null = null;
  async getAlarm(): Promise<number | null> {
    return this.real;
  }
  async setAlarm(time: number | Date): Promise<void> {
    this.real = Number(time);
  }
  async deleteAlarm(): Promise<void> {
    this.real = null;
  }
}

const realNow = 1_000_000;

function objectsWithAlarms(...ids: string[]) {
  // The methods of the prototype are replaced, so each test has its own.
  const Own = class extends Storage {};
  Object.defineProperties(Own.prototype, Object.getOwnPropertyDescriptors(Storage.prototype));
  const clock = { offsetMilliseconds: 0, now: () => realNow + clock.offsetMilliseconds };
  const move = vi.fn<(by: number) => Promise<void>>(async (by) => {
    clock.offsetMilliseconds += by;
  });
  const objects = new Map(
    ids.map((id) => [id, { storage: new Own(), alarm: vi.fn<() => unknown>() }]),
  );
  const get = (id: string) => objects.get(id)!;
  const alarms = new MovedAlarms(clock, (id, act) =>
    act({ alarm: get(id).alarm }, { id, storage: get(id).storage }),
  );
  for (const id of ids) alarms.adopt({ id, storage: get(id).storage });
  return { alarms, clock, move, get, advance: (by: number) => alarms.advance(by, move) };
}

it("MovedAlarms.advance() runs what becomes due, each at its time, and sets the others anew", async () => {
  const { advance, clock, get } = objectsWithAlarms("a", "b", "c");
  const log: string[] = [];
  for (const id of ["a", "b", "c"])
    get(id).alarm.mockImplementation(() => log.push(`${id} ${clock.now()}`));
  await get("a").storage.setAlarm(realNow + 300);
  await get("b").storage.setAlarm(new Date(realNow + 200));
  await get("c").storage.setAlarm(realNow + 5000);
  await advance(1000);
  expect(log).toEqual([`b ${realNow + 200}`, `a ${realNow + 300}`]);
  expect(clock.offsetMilliseconds).toBe(1000);
  expect([get("a").storage.real, get("c").storage.real]).toEqual([null, realNow + 4000]);
  expect(await get("c").storage.getAlarm()).toBe(realNow + 5000);
});

it("MovedAlarms.advance() leaves the alarms that it will run to itself", async () => {
  const { advance, get } = objectsWithAlarms("a");
  const { storage, alarm } = get("a");
  alarm.mockImplementationOnce(async () => {
    await storage.setAlarm(realNow + 500);
    expect(storage.real).toBeGreaterThan(realNow + 3_600_000);
  });
  await storage.setAlarm(realNow + 100);
  await advance(1000);
  expect(alarm).toHaveBeenCalledTimes(2);
});

it("MovedAlarms.advance() skips an alarm that the runtime has run", async () => {
  const { advance, get, alarms } = objectsWithAlarms("a");
  await get("a").storage.setAlarm(realNow + 100);
  get("a").storage.real = null;
  await advance(1000);
  expect(get("a").alarm).not.toHaveBeenCalled();
  expect(alarms.times.size).toBe(0);
});

it("MovedAlarms.advance() stops at an error of a handler, and the other alarms stay", async () => {
  const { advance, get, clock } = objectsWithAlarms("a", "b");
  get("a").alarm.mockRejectedValue(new Error("of the handler"));
  await get("a").storage.setAlarm(realNow + 100);
  await get("b").storage.setAlarm(realNow + 200);
  await expect(advance(1000)).rejects.toThrow("of the handler");
  expect(clock.offsetMilliseconds).toBe(100);
  expect(get("b").storage.real).toBe(realNow + 100);
});

it("MovedAlarms.advance() ends an alarm that never lets the clock go on", async () => {
  const { advance, get } = objectsWithAlarms("a");
  const { storage, alarm } = get("a");
  alarm.mockImplementation(() => storage.setAlarm(realNow));
  await storage.setAlarm(realNow + 100);
  await expect(advance(1000)).rejects.toThrow("Durable Object a has run 100 times");
  expect(storage.real).toBeNull();
});
