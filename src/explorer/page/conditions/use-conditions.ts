/** The conditions for a component, read again at an interval while the component is shown. */
import { useEffect, useState } from "preact/hooks";
import { callApi } from "../api-client.ts";
import type { ConditionsChange } from "./condition-changes.ts";
import { ConditionsStore, type KnownConditions } from "./conditions-store.ts";

const store = new ConditionsStore({
  read: () => callApi("/api/conditions"),
  replace: (conditions) => callApi("/api/conditions", { method: "PUT", json: conditions }),
});

export interface UsedConditions extends KnownConditions {
  /** @throws ApiCallError */
  readonly change: (change: ConditionsChange) => Promise<void>;
  readonly refresh: () => void;
}

const change = (wanted: ConditionsChange): Promise<void> => store.change(wanted);
const refresh = (): void => void store.refresh();

export function useConditions(milliseconds: number): UsedConditions {
  const [known, setKnown] = useState(store.known);
  useEffect(() => {
    const end = store.listen(() => setKnown(store.known));
    refresh();
    const timer = setInterval(() => {
      // A tab in the background asks for nothing; it asks again when a person sees it.
      if (!document.hidden) refresh();
    }, milliseconds);
    document.addEventListener("visibilitychange", refresh);
    return () => {
      end();
      clearInterval(timer);
      document.removeEventListener("visibilitychange", refresh);
    };
  }, [milliseconds]);
  return { ...known, change, refresh };
}
