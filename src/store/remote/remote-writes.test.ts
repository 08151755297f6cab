import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { conditionHolds, type Conditional } from "../core/conditional.ts";
import {
  guardedWrite,
  guardHeaders,
  guardOfCondition,
  type Guard,
  type GuardedWrite,
} from "./remote-writes.ts";
import { RemoteError } from "./s3-transport.ts";

interface Stored {
  readonly etag: string;
  readonly version: string;
  readonly uploaded: number;
  readonly age: number | null;
  readonly isUnconditional?: true;
}

const stored = (name: string): Stored => ({
  etag: `etag-${name}`,
  version: name,
  uploaded: 0,
  age: 0,
});

/** What happens to one write: `lost` is executed without an answer, `dropped` is not executed. */
type Fate = "answered" | "raced" | "lost" | "dropped" | "silent" | "refused";

/** A service with one object, whose answers get lost as the test says. */
class SimulatedService {
  object: Stored | null;
  readonly guards: Guard[] = [];
  readonly writes: (string | null)[] = [];
  readonly #fates: Fate[];
  /** Runs after each write. */
  afterWrite: (attempt: number) => void = () => {};
  /** Runs before each write. */
  beforeWrite: (attempt: number) => void = () => {};

  readonly pauses: number[] = [];
  isDown = false;
  heads = 0;

  constructor(object: Stored | null, fates: Fate[] = []) {
    this.object = object;
    this.#fates = fates;
  }

  /** A delete has no version. */
  #write<Written>(
    version: string | null,
    holds: (seen: Stored | null) => boolean,
    written: Written,
  ): GuardedWrite<Stored, Written> {
    return {
      now: () => 0,
      pause: async (milliseconds) => void this.pauses.push(milliseconds),
      effect: version === null ? "deleted" : "stored",
      holds,
      head: async () => {
        if (this.isDown) throw new RemoteError("unreachable", "The service is down.");
        this.heads++;
        return this.object;
      },
      resultIn: (seen) => ((seen?.version ?? null) === version ? written : null),
      write: async (guard) => {
        const attempt = this.guards.push(guard);
        const fate = this.#fates[attempt - 1] ?? "answered";
        this.beforeWrite(attempt);
        if (fate === "refused") throw new RemoteError("refused", "Wrong keys.");
        const isAllowed =
          guard === null
            ? fate !== "raced"
            : guard === "absent"
              ? this.object === null
              : guard?.etag === this.object?.etag;
        if (isAllowed && fate !== "dropped" && fate !== "silent") {
          this.object = version === null ? null : stored(version);
          this.writes.push(version);
        }
        this.afterWrite(attempt);
        const isSilence = fate === "silent";
        if (fate !== "answered" && fate !== "raced") {
          throw new RemoteError("unknown", "The connection was lost.", { isSilence });
        }
        return isAllowed ? { written } : "guarded";
      },
    };
  }

  put(
    version: string,
    holds: (seen: Stored | null) => boolean = () => true,
    presumed: Guard = null,
  ) {
    return guardedWrite({ ...this.#write(version, holds, stored(version).etag), presumed });
  }

  /** A put without a condition, in one request. */
  putBlind(version: string) {
    return guardedWrite({
      ...this.#write(version, () => true, stored(version).etag),
      isBlind: true,
      overwrittenIn: (seen) => (seen?.isUnconditional === true ? "overwritten" : null),
    });
  }

  delete(holds: (seen: Stored | null) => boolean = () => true) {
    return guardedWrite(this.#write(null, holds, "deleted" as const));
  }
}

const isAbsent = (seen: Stored | null): boolean => seen === null;
const isOld = (seen: Stored | null): boolean => seen?.version === "old";

describe("guardedWrite()", () => {
  it("guards a write by what it has seen, with and without a condition", async () => {
    for (const holds of [undefined, isOld]) {
      const service = new SimulatedService(stored("old"));
      expect(await service.put("new", holds)).toBe("etag-new");
      expect(service.guards).toEqual([{ etag: "etag-old" }]);
    }
    for (const holds of [undefined, isAbsent]) {
      const empty = new SimulatedService(null);
      await empty.put("new", holds);
      expect(empty.guards).toEqual(["absent"]);
    }
    const deleted = new SimulatedService(stored("old"));
    expect(await deleted.delete()).toBe("deleted");
    expect(deleted.guards).toEqual([{ etag: "etag-old" }]);
  });

  it("does not repeat a write that has used all of its time", async () => {
    const service = new SimulatedService(stored("old"), ["silent"]);
    await expect(service.put("new")).rejects.toThrow("The object may have been stored or not");
    expect(service.guards).toHaveLength(1);
  });

  it("asks for no head when the condition names the guard", async () => {
    const presumed = { etag: "etag-old" };
    const service = new SimulatedService(stored("old"));
    expect(await service.put("new", isOld, presumed)).toBe("etag-new");
    expect(service.heads).toBe(0);
    const other = new SimulatedService(stored("other"));
    expect(await other.put("new", isOld, presumed)).toBeNull();
    expect(other.heads).toBe(1);
    const dropped = new SimulatedService(stored("old"), ["dropped"]);
    expect(await dropped.put("new", isOld, presumed)).toBe("etag-new");
    expect(dropped.guards).toEqual([presumed, presumed]);
    const lost = new SimulatedService(stored("old"), ["lost"]);
    lost.afterWrite = () => {
      lost.object = null;
    };
    await expect(lost.put("new", isOld, presumed)).rejects.toThrow(/may have been stored and/);
  });

  it("writes nothing when the condition does not hold", async () => {
    const service = new SimulatedService(stored("old"));
    expect(await service.put("new", isAbsent)).toBeNull();
    expect(await service.delete((seen) => seen?.version === "other")).toBeNull();
    expect(service.guards).toEqual([]);
  });

  it("has nothing to delete where there is no object", async () => {
    const service = new SimulatedService(null);
    expect(await service.delete()).toBe("deleted");
    expect(service.guards).toEqual([]);
  });

  it("decides again when another writer was faster", async () => {
    const service = new SimulatedService(null);
    const interfere = (each: SimulatedService): void => {
      each.beforeWrite = (attempt) => {
        if (attempt === 1) each.object = stored("other");
      };
    };
    interfere(service);
    expect(await service.put("new", isAbsent)).toBeNull();
    const any = new SimulatedService(stored("old"));
    interfere(any);
    expect(await any.put("new")).toBe("etag-new");
    expect(any.guards).toEqual([{ etag: "etag-old" }, { etag: "etag-other" }]);
    const deleted = new SimulatedService(stored("old"));
    interfere(deleted);
    expect(await deleted.delete()).toBe("deleted");
    expect(deleted.object).toBeNull();
  });

  it("gives up with 10058 when other writers are always faster", async () => {
    const service = new SimulatedService(stored("old"));
    service.beforeWrite = (attempt) => {
      service.object = stored(`other-${attempt}`);
    };
    await expect(service.put("new")).rejects.toMatchObject({ code: 10058 });
  });

  it("finds a write whose answer was lost, and does not send it again", async () => {
    const service = new SimulatedService(stored("old"), ["lost"]);
    expect(await service.put("new")).toBe("etag-new");
    expect(service.writes).toEqual(["new"]);
    const deleted = new SimulatedService(stored("old"), ["lost"]);
    expect(await deleted.delete()).toBe("deleted");
    expect(deleted.writes).toEqual([null]);
  });

  it("sends a write that was not executed again, with the same guard", async () => {
    for (const holds of [undefined, isOld]) {
      const service = new SimulatedService(stored("old"), ["dropped"]);
      expect(await service.put("new", holds)).toBe("etag-new");
      expect(service.guards).toEqual([{ etag: "etag-old" }, { etag: "etag-old" }]);
      expect(service.writes).toEqual(["new"]);
    }
  });

  it("writes once when the first request is executed late", async () => {
    const service = new SimulatedService(stored("old"), ["dropped"]);
    service.beforeWrite = (attempt) => {
      if (attempt === 2) service.object = stored("new");
    };
    expect(await service.put("new")).toBe("etag-new");
    expect(service.writes).toEqual([]);
  });

  it("says that a write may have happened which another writer's object hides", async () => {
    for (const fate of ["lost", "dropped"] as const) {
      for (const holds of [undefined, isOld]) {
        const service = new SimulatedService(stored("old"), [fate]);
        service.afterWrite = (attempt) => {
          if (attempt === 1) service.object = stored("other");
        };
        const put = service.put("new", holds);
        await expect(put).rejects.toMatchObject({ code: 10001 });
        await expect(put).rejects.toThrow(/may have been stored and overwritten/);
        expect(service.guards).toHaveLength(1);
      }
      const service = new SimulatedService(stored("old"), [fate]);
      service.afterWrite = () => {
        service.object = stored("other");
      };
      await expect(service.delete()).rejects.toThrow(/may have been deleted and stored by another/);
      expect(service.object).toEqual(stored("other"));
    }
  });

  it("sends a put of a new key again where there is no object, also after a delete of another writer", async () => {
    const service = new SimulatedService(null, ["lost"]);
    service.afterWrite = (attempt) => {
      if (attempt === 1) service.object = null;
    };
    expect(await service.put("new")).toBe("etag-new");
    expect(service.writes).toEqual(["new", "new"]);
  });

  it("is uncertain about a guard that fails after a lost answer", async () => {
    const service = new SimulatedService(stored("old"), ["dropped"]);
    service.beforeWrite = (attempt) => {
      if (attempt === 2) service.object = stored("other");
    };
    const put = service.put("new", isOld);
    await expect(put).rejects.toThrow(/may have been stored and overwritten/);
  });

  it("says what is not known when the service does not come back", async () => {
    const dropped = (): SimulatedService =>
      new SimulatedService(stored("old"), Array(9).fill("dropped") as Fate[]);
    await expect(dropped().put("new")).rejects.toThrow(
      "The object may have been stored or not: The connection was lost. Read the object to find out.",
    );
    await expect(dropped().delete()).rejects.toThrow(/^The object may have been deleted or not/);
    const down = new SimulatedService(stored("old"), ["lost"]);
    down.afterWrite = () => {
      down.isDown = true;
    };
    await expect(down.put("new")).rejects.toThrow(
      "The object may have been stored or not: The service is down. Read the object to find out.",
    );
  });

  it("sends a write without a condition once, and reads nothing", async () => {
    const service = new SimulatedService(stored("old"));
    expect(await service.putBlind("new")).toBe("etag-new");
    expect([service.guards, service.heads]).toEqual([[null], 0]);
  });

  it("is overwritten by a put without a condition that has won the race", async () => {
    const service = new SimulatedService(stored("old"), ["raced"]);
    service.beforeWrite = () => {
      service.object = { ...stored("other"), isUnconditional: true };
    };
    expect(await service.putBlind("new")).toBe("overwritten");
    expect([service.guards, service.pauses]).toEqual([[null], []]);
  });

  it("repeats a put that has lost a race to another write, after a pause that grows to a limit", async () => {
    const older = { ...stored("other"), age: 2_001, isUnconditional: true } as const;
    for (const winner of [stored("other"), older, null]) {
      const service = new SimulatedService(stored("old"), ["raced", "raced"]);
      service.beforeWrite = () => {
        service.object = winner;
      };
      expect(await service.putBlind("new")).toBe("etag-new");
      expect([service.guards, service.pauses]).toEqual([
        [null, null, null],
        [20, 40],
      ]);
    }
    const lost = new SimulatedService(stored("old"), Array(99).fill("raced") as Fate[]);
    await expect(lost.putBlind("new")).rejects.toMatchObject({ code: 10058 });
    expect(lost.pauses).toHaveLength(65);
    expect(lost.pauses.reduce((sum, each) => sum + each, 0)).toBeLessThan(32_000);
  });

  it("sends a write without a condition again after a lost answer, if an older object is there", async () => {
    const service = new SimulatedService({ ...stored("old"), age: 2_001 }, ["dropped"]);
    expect(await service.putBlind("new")).toBe("etag-new");
    expect(service.guards).toEqual([null, { etag: "etag-old" }]);
    const executed = new SimulatedService(stored("old"), ["lost"]);
    expect(await executed.putBlind("new")).toBe("etag-new");
    const absent = new SimulatedService(null, ["dropped"]);
    expect(await absent.putBlind("new")).toBe("etag-new");
    expect(absent.guards).toEqual([null, "absent"]);
  });

  it("does not know what happened if the object could be newer than the write", async () => {
    for (const age of [2_000, 0, null]) {
      for (const isUnconditional of [true, undefined]) {
        const object = { ...stored("old"), age, ...(isUnconditional && { isUnconditional }) };
        const service = new SimulatedService(object, ["dropped"]);
        await expect(service.putBlind("new")).rejects.toThrow(
          /may have been stored and overwritten/,
        );
        expect(service.guards).toEqual([null]);
      }
    }
  });

  it("passes on a refusal, after which nothing was stored", async () => {
    const service = new SimulatedService(null, ["refused"]);
    await expect(service.put("new")).rejects.toThrow("Wrong keys.");
    expect(service.guards).toHaveLength(1);
  });
});

const features = {
  putIfMatch: "quoted",
  putIfNoneMatch: true,
  conditionalComplete: true,
  conditionalDelete: true,
} as const;

const sometimes = <Value>(values: fc.Arbitrary<Value>) =>
  fc.option(values, { freq: 2, nil: undefined });

describe("guardOfCondition()", () => {
  const value = "0123456789abcdef0123456789abcdef";
  const strong = { kind: "strong", value } as const;
  const any = { kind: "any" } as const;

  it("is the guard of one entity tag, and of no object", () => {
    expect(guardOfCondition({ etagMatches: [strong] }, features)).toEqual({ etag: value });
    expect(guardOfCondition({ etagDoesNotMatch: [any] }, features)).toBe("absent");
    const ofParts = { kind: "strong", value: `${value}-12` } as const;
    expect(guardOfCondition({ etagMatches: [ofParts] }, features)).toEqual({ etag: `${value}-12` });
  });

  it.each<[string, Conditional | undefined]>([
    ["no condition", undefined],
    ["an empty condition", {}],
    ["any object", { etagMatches: [any] }],
    ["another entity tag", { etagDoesNotMatch: [strong] }],
    ["a weak entity tag", { etagMatches: [{ kind: "weak", value }] }],
    ["two entity tags", { etagMatches: [strong, strong] }],
    ["both conditions", { etagMatches: [strong], etagDoesNotMatch: [any] }],
    ["a date", { etagMatches: [strong], uploadedBefore: 1 }],
    ["a date of another condition", { etagDoesNotMatch: [any], uploadedAfter: 0 }],
    ["an entity tag that no header can have", { etagMatches: [{ kind: "strong", value: "a\n" }] }],
  ])("is null for %s", (_, condition) => {
    expect(guardOfCondition(condition, features)).toBeNull();
  });

  it("holds for the same objects as the condition", () => {
    const tags = [value, value.toUpperCase(), `${value}-2`];
    const pattern = fc.oneof(
      fc.constant(any),
      fc.record({
        kind: fc.constantFrom("strong" as const, "weak" as const),
        value: fc.constantFrom(...tags),
      }),
    );
    const patterns = fc.array(pattern, { maxLength: 2 });
    const condition = fc.record({
      etagMatches: sometimes(patterns),
      etagDoesNotMatch: sometimes(patterns),
      uploadedBefore: sometimes(fc.nat(2)),
      uploadedAfter: sometimes(fc.nat(2)),
    }) as fc.Arbitrary<Conditional>;
    const object = fc.option(fc.record({ etag: fc.constantFrom(...tags), uploaded: fc.nat(2) }));
    let guards = 0;
    fc.assert(
      fc.property(condition, object, (generated, seen) => {
        const guard = guardOfCondition(generated, features);
        if (guard === null) return;
        guards++;
        const holds = guard === "absent" ? seen === null : seen?.etag === guard.etag;
        expect(holds).toBe(conditionHolds(generated, seen));
      }),
      { numRuns: 3000 },
    );
    expect(guards).toBeGreaterThan(20);
  });

  it("is null where the service ignores the guard", () => {
    const none = { putIfMatch: null, putIfNoneMatch: false };
    expect(guardOfCondition({ etagMatches: [strong] }, none)).toBeNull();
    expect(guardOfCondition({ etagDoesNotMatch: [any] }, none)).toBeNull();
  });
});

describe("guardHeaders()", () => {
  it("writes the entity tag as the service reads it", () => {
    const guard = { etag: "abc" };
    expect(guardHeaders(guard, features)).toEqual({ "if-match": '"abc"' });
    const unquoted = { ...features, putIfMatch: "unquoted" } as const;
    expect(guardHeaders(guard, unquoted)).toEqual({ "if-match": "abc" });
    expect(guardHeaders("absent", features)).toEqual({ "if-none-match": "*" });
  });

  it("leaves out what the service ignores", () => {
    const none = { ...features, putIfMatch: null, putIfNoneMatch: false };
    expect(guardHeaders({ etag: "abc" }, none)).toEqual({});
    expect(guardHeaders("absent", none)).toEqual({});
  });
});
