/** Single keys on a terminal, while a program runs. */
import { emitKeypressEvents, type Key } from "node:readline";

export interface KeyBinding {
  /** As they are pressed; the first is the one to be shown. */
  readonly keys: readonly string[];
  readonly label: string;
  act(): void;
}

/** One line that says which keys there are. */
export function renderKeys(bindings: readonly KeyBinding[]): string {
  return bindings.map(({ keys, label }) => `[${keys[0] as string}] ${label}`).join("  ");
}

/** @returns gives the terminal back */
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
