/**
 * Keys of the page. A view registers its keys while it is shown; `?` lists all keys that work now.
 * Keys do nothing while a person types into a field, except Escape, and while a dialog or a menu is open.
 */
import { Fragment } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Dialog } from "./dialog.tsx";

export interface Shortcut {
  /** What the key does: "Search by prefix". */
  readonly label: string;
  readonly act: (event: KeyboardEvent) => void;
  /** Whether the key is for the view, and not for what has the focus. Always, if it is absent. */
  readonly when?: (event: KeyboardEvent) => boolean;
}

/** By the key's name, as `KeyboardEvent.key` has it; `Ctrl+a` for a key with Control or Command. */
export type Shortcuts = Readonly<Record<string, Shortcut>>;

const registered: { current: Shortcuts }[] = [];

export function useShortcuts(shortcuts: Shortcuts): void {
  const holder = useRef({ current: shortcuts });
  holder.current.current = shortcuts;
  useEffect(() => {
    const own = holder.current;
    registered.push(own);
    if (registered.length === 1) addEventListener("keydown", onKey);
    return () => {
      registered.splice(registered.indexOf(own), 1);
      if (registered.length === 0) removeEventListener("keydown", onKey);
    };
  }, []);
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey) return;
  if (document.querySelector("dialog[open], .menu:popover-open") !== null) return;
  if (isTyping(event.target) && event.key !== "Escape") return;
  if (isPressing(event)) return;
  const name = event.ctrlKey || event.metaKey ? `Ctrl+${event.key}` : event.key;
  // The innermost view comes first.
  for (const { current } of registered.toReversed()) {
    const shortcut = current[name];
    if (shortcut === undefined || shortcut.when?.(event) === false) continue;
    event.preventDefault();
    shortcut.act(event);
    return;
  }
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.matches("input:not([type=checkbox]), textarea, select") || target.isContentEditable)
  );
}

/** Space and Enter press the button or follow the link that has the focus. */
function isPressing({ key, target }: KeyboardEvent): boolean {
  return (
    (key === " " || key === "Enter") &&
    target instanceof HTMLElement &&
    target.matches("button, a[href], summary, input")
  );
}

const keyNames: Readonly<Record<string, string>> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  " ": "Space",
};

export function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  const all = new Map([
    ["Escape", "Close a dialog or the details"],
    ...registered.flatMap(({ current }) =>
      Object.entries(current).map(([key, { label }]) => [key, label] as const),
    ),
  ]);
  return (
    <Dialog title="Shortcuts" onClose={onClose}>
      <dl class="facts">
        {Array.from(all, ([key, label]) => (
          <Fragment key={key}>
            <dt>
              <kbd>{keyNames[key] ?? key}</kbd>
            </dt>
            <dd>{label}</dd>
          </Fragment>
        ))}
      </dl>
    </Dialog>
  );
}
