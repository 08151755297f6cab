import { describe, expect, it } from "vitest";
import type { Operation } from "../core/operations.ts";
import { outcomeOf } from "../core/short-form.ts";
import { inLayer, layerOf, operationIn, operationsIn, shortMessage } from "./message.ts";

const head: Operation = { method: "head", key: "k" };

describe("inLayer()", () => {
  it("returns the operation itself for a call without a layer", () => {
    expect(inLayer(head, undefined)).toBe(head);
    expect(layerOf(head)).toBeUndefined();
    expect(operationIn(head)).toBe(head);
  });

  it("puts an operation into an envelope, which operationIn() and layerOf() read", () => {
    const message = inLayer(head, 2);
    expect(operationIn(message)).toBe(head);
    expect(layerOf(message)).toBe(2);
  });
});

describe("operationsIn()", () => {
  it("returns the same array if no message has an envelope", () => {
    const messages = [head, head];
    expect(operationsIn(messages)).toBe(messages);
  });

  it("takes operations out of their envelopes", () => {
    expect(operationsIn([head, inLayer(head, 1)])).toStrictEqual([head, head]);
  });
});

describe("shortMessage()", () => {
  it("is short for an outcome without a fault", () => {
    expect(shortMessage([{ ok: true, value: "[…]" }])).toBe("[…]");
  });

  it("leaves an outcome with a fault as it is", () => {
    const faulty = {
      fault: { delayMilliseconds: 1 },
      outcome: { ok: true, value: "[…]" },
    } as const;
    expect(shortMessage([faulty])).toBe(faulty);
    expect(outcomeOf(faulty)).toBe(faulty);
  });
});
