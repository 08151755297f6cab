import { describe, expect, it } from "vitest";
import {
  ArmedFault,
  decideFaults,
  describeFaults,
  describeInjectedFault,
  failEffect,
  injectFaults,
  makeStoreFault,
  slowEffect,
  type FaultEffect,
  type FaultTarget,
} from "./fault.ts";

/** The numbers of the puts of "a.png" in "photos" that a fault hits. */
function hits(target: FaultTarget, count = 10): number[] {
  const armed = new ArmedFault(makeStoreFault(target, failEffect()));
  return Array.from({ length: count }, () =>
    armed.hit({ bucket: "photos", method: "put", keys: ["a.png"] }),
  ).filter((hit) => hit !== null);
}

describe("ArmedFault", () => {
  it("hits every matching call by default", () => {
    expect(hits({})).toHaveLength(10);
    expect(hits({ bucket: "photos", key: "*.png", method: ["get", "put"] })).toHaveLength(10);
  });

  it("hits no call that differs in bucket, key or method", () => {
    expect(hits({ bucket: "thumbnails" })).toEqual([]);
    expect(hits({ key: /\.jpg$/ })).toEqual([]);
    expect(hits({ method: "get" })).toEqual([]);
  });

  it("hits only the nth call, or `times` calls from the nth on", () => {
    expect(hits({ nth: 3 })).toEqual([3]);
    expect(hits({ nth: 3, times: 2 })).toEqual([3, 4]);
    expect(hits({ times: 2 })).toEqual([1, 2]);
  });

  it("hits the same calls for the same seed, at about the given probability", () => {
    const target = { probability: 0.3, seed: 42 };
    expect(hits(target, 1000)).toEqual(hits(target, 1000));
    expect(hits(target, 1000).length).toBeGreaterThan(240);
    expect(hits(target, 1000).length).toBeLessThan(360);
    expect(hits({ ...target, seed: 43 }, 1000)).not.toEqual(hits(target, 1000));
    expect(hits({ probability: 0 }, 1000)).toEqual([]);
    expect(hits({ probability: 1 }, 1000)).toHaveLength(1000);
  });

  it("hits a delete if any of its keys matches", () => {
    const armed = new ArmedFault(makeStoreFault({ key: "b" }, failEffect()));
    expect(armed.hit({ bucket: "photos", method: "delete", keys: ["a", "b"] })).toBe(1);
  });
});

const head = { method: "head", key: "a" } as const;
const arm = (target: FaultTarget, effect: FaultEffect) =>
  new ArmedFault(makeStoreFault(target, effect));
const decide = (faults: ArmedFault[]) => decideFaults(head, injectFaults(faults, "photos", head));

describe("injectFaults()", () => {
  it("applies every delay, and the first of the other faults, which hides the call from the rest", () => {
    const once = arm({ times: 1 }, failEffect(10058));
    const faults = [
      arm({}, slowEffect("1s")),
      once,
      arm({}, { kind: "drop", afterBytes: null }),
      arm({ nth: 2 }, slowEffect("2s")),
    ];
    const effects = () => injectFaults(faults, "photos", head).map(({ effect }) => effect.kind);
    expect(effects()).toEqual(["slow", "fail"]);
    expect(effects()).toEqual(["slow", "drop", "slow"]);
    expect(once.hits).toBe(1);
  });

  it("gives a decision with the sum of the delays", () => {
    const slow = arm({}, slowEffect("1s"));
    const fail = arm({ when: "after" }, failEffect(10058));
    expect(decide([])).toEqual({ execute: true });
    expect(decide([slow, fail, slow])).toMatchObject({
      execute: true,
      replacement: { ok: false, code: 10058 },
      fault: { delayMilliseconds: 2000 },
    });
    expect(decide([arm({}, { kind: "drop", afterBytes: null }), slow])).toMatchObject({
      execute: false,
      fault: { lost: "answer", delayMilliseconds: 1000 },
    });
  });
});

describe("makeStoreFault()", () => {
  it.each<[FaultTarget, string]>([
    [{ method: "fetch" as never }, '"fetch" is no method of a bucket. Use head, get'],
    [{ nth: 0 }, '"nth" is 0: give a whole number from 1.'],
    [{ times: 1.5 }, '"times" is 1.5'],
    [{ probability: 2 }, '"probability" is 2: give a number from 0 to 1.'],
    [{ Buckets: "a" } as never, '"Buckets" is no field of faults.slow(). Did you mean "bucket"?'],
    [
      { code: 10058 } as never,
      '"code" is no field of faults.slow(). Use bucket, key, method, nth,',
    ],
  ])("refuses %j", (target, message) => {
    expect(() => makeStoreFault(target, slowEffect("1s"))).toThrow(message);
  });
});

describe("failEffect()", () => {
  it("takes the text of the store's error, or of 10058, which the bucket never raises", () => {
    expect(failEffect(10024)).toMatchObject({
      text: "The specified multipart upload does not exist.",
    });
    expect(failEffect(10058)).toMatchObject({ text: expect.stringContaining("Reduce") });
    expect(failEffect(12345, "Mine.")).toMatchObject({ code: 12345, text: "Mine." });
    expect(() => failEffect(12345)).toThrow("No error of the store has the code 12345.");
  });
});

describe("describeFaults()", () => {
  it("names what faults did, and faults that did nothing", () => {
    const call = { bucket: "photos", method: "put", keys: ["a.png"] } as const;
    const targets: FaultTarget[] = [{ key: /^b/i }, { method: "put", nth: 3 }, {}];
    const [never, third, used] = targets.map(
      (target) => new ArmedFault(makeStoreFault(target, failEffect())),
    ) as [ArmedFault, ArmedFault, ArmedFault];
    for (const armed of [never, third, used, third]) armed.hit(call);
    const injected = { bucket: "photos", method: "put", key: "a.png", nth: 1 } as const;
    expect(
      describeFaults(
        [describeInjectedFault({ ...injected, when: "before", effect: slowEffect("2s") })],
        [never, third, used].flatMap(({ unused }) => unused ?? []),
      ),
    ).toBe(
      [
        "Injected faults:",
        '  put of "a.png" in "photos" took 2000 ms longer (call 1 that the fault matches)',
        "",
        "Faults that hit no call:",
        "  faults.fail({ key: /^b/i }): no call matches",
        '  faults.fail({ method: "put", nth: 3 }): 2 calls match, none was hit',
      ].join("\n"),
    );
    expect(describeFaults([], [])).toBe("");
  });
});
