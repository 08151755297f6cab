import { expect, it } from "vitest";
import { MovedDate } from "./moved-date.ts";

const day = 86_400_000;

it("moves the time of a Date without arguments, and nothing else", () => {
  const scope = { Date };
  const moved = new MovedDate(scope);
  moved.setOffset(100 * day);
  const { Date: MovedClass } = scope;
  expect(MovedClass).not.toBe(Date);
  const passed = (time: number) => Math.round((time - Date.now()) / day);
  expect(passed(MovedClass.now())).toBe(100);
  expect(passed(new MovedClass().getTime())).toBe(100);
  expect(passed(MovedClass.parse(MovedClass()))).toBe(100);
  expect(new MovedClass(0).getTime()).toBe(0);
  expect(new MovedClass(2020, 0, 2).getDate()).toBe(2);
  expect(MovedClass.UTC(1970, 0, 2)).toBe(day);
});

it("makes dates of the real class, also of subclasses", () => {
  const scope = { Date };
  new MovedDate(scope).setOffset(day);
  const { Date: MovedClass } = scope;
  class Timestamp extends MovedClass {}
  expect(new MovedClass()).toBeInstanceOf(Date);
  expect(new Date()).toBeInstanceOf(MovedClass);
  expect(new Timestamp()).toBeInstanceOf(Timestamp);
  expect(new Timestamp().getTime()).toBeGreaterThan(Date.now() + day / 2);
});

it("restores the real class, and does not replace the class of fake timers", () => {
  const scope = { Date };
  const moved = new MovedDate(scope);
  moved.setOffset(day);
  moved.setOffset(0);
  expect(scope.Date).toBe(Date);
  class FakeDate extends Date {}
  scope.Date = FakeDate as DateConstructor;
  moved.setOffset(day);
  expect(scope.Date).toBe(FakeDate);
  expect(moved.offsetMilliseconds).toBe(day);
});
