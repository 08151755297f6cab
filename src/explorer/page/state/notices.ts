/** Short messages about what was done, with what can be undone. They are read out to screen readers. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";

export interface Notice {
  readonly id: number;
  readonly text: string;
  readonly tone: "plain" | "problem";
  readonly action?: { readonly label: string; readonly act: () => void };
  /** How long the notice stays; a problem stays until it is dismissed. */
  readonly milliseconds: number;
}

export interface Notices {
  readonly show: (
    text: string,
    options?: Partial<Pick<Notice, "tone" | "action" | "milliseconds">>,
  ) => number;
  readonly dismiss: (id: number) => void;
}

export const NoticesContext = createContext<Notices>({ show: () => 0, dismiss: () => {} });

export function useNotices(): Notices {
  return useContext(NoticesContext);
}
