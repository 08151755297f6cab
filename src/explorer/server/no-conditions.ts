/** To be replaced: conditions of a store without faults. */
import type { ConditionsState } from "../api/conditions.ts";
import { CallError } from "./call.ts";
import type { ConditionsControl } from "./conditions-control.ts";

export class NoConditions implements ConditionsControl {
  async read(): Promise<ConditionsState> {
    return {
      bucketFaults: [],
      dnsFaults: [],
      latencyMilliseconds: 0,
      clockOffsetMilliseconds: 0,
      hits: {},
      storeTime: Date.now(),
      problem: null,
    };
  }

  change(): Promise<ConditionsState> {
    throw new CallError(501, "Not yet.");
  }
}
