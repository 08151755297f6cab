/** The conditions that the page shows and changes. */
import type { Conditions, ConditionsState } from "../api/conditions.ts";

export interface ConditionsControl {
  read(): Promise<ConditionsState>;
  /**
   * Replaces all conditions, or none if one of them cannot be read.
   *
   * @throws CallError that quotes the fault
   */
  change(conditions: Conditions): Promise<ConditionsState>;
}
