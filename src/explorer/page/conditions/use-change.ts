/** A change of the conditions from a form: the form says what the server refused. */
import { useState } from "preact/hooks";
import { ApiCallError } from "../api-client.ts";
import type { ConditionsChange } from "./condition-changes.ts";
import type { UsedConditions } from "./use-conditions.ts";

export interface Changing {
  /** The message of the server that refused the last change, or `null`. */
  readonly refusal: string | null;
  readonly isChanging: boolean;
  /** @returns whether the change is in force */
  readonly make: (change: ConditionsChange) => Promise<boolean>;
}

export function useChange(change: UsedConditions["change"]): Changing {
  const [refusal, setRefusal] = useState<string | null>(null);
  const [isChanging, setChanging] = useState(false);
  const make = async (wanted: ConditionsChange): Promise<boolean> => {
    setChanging(true);
    try {
      await change(wanted);
      setRefusal(null);
      return true;
    } catch (error) {
      if (!(error instanceof ApiCallError)) throw error;
      setRefusal(error.message);
      return false;
    } finally {
      setChanging(false);
    }
  };
  return { refusal, isChanging, make };
}
