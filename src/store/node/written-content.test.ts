import { expect, it } from "vitest";
import { ReusedMemory } from "./written-content.ts";

it("ReusedMemory.take() returns a buffer that was given back", () => {
  const memory = new ReusedMemory(16, 1);
  const [first, second] = [memory.take(), memory.take()];
  expect([first.length, second === first]).toEqual([16, false]);
  memory.giveBack(second);
  expect(memory.take()).toBe(second);
});

it("ReusedMemory.giveBack() keeps no more than the limit", () => {
  const memory = new ReusedMemory(16, 1);
  const [first, second] = [memory.take(), memory.take()];
  memory.giveBack(first);
  memory.giveBack(second);
  expect(memory.take()).toBe(first);
  expect(memory.take()).not.toBe(second);
});
