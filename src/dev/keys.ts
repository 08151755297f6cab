/** Single keys that are pressed on a terminal while a program runs. */
import { emitKeypressEvents, type Key } from "node:readline";

export interface KeyBinding {
  /** `q`, `ctrl-c`; the first key is shown. */
  readonly keys: readonly string[];
  readonly label: string;
  act(): void;
}

/** One line that lists the keys. */
export function renderKeys(bindings: readonly KeyBinding[]): string {
  return bindings.map(({ keys, label }) => `[${keys[0] as string}] ${label}`).join("  ");
}

/** @returns ends the listening and resets the terminal */
export function listenForKeys(bindings: readonly KeyBinding[]): () => void {
  const { stdin } = process;
  const onKey = (_: string | undefined, { name, ctrl, meta }: Key): void => {
    if (name === undefined || meta) return;
    const pressed = ctrl ? `ctrl-${name}` : name.toLowerCase();
    bindings.find(({ keys }) => keys.includes(pressed))?.act();
  };
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.resume();
  stdin.on("keypress", onKey);
  return () => {
    stdin.off("keypress", onKey);
    stdin.setRawMode(false);
    stdin.pause();
  };
}
