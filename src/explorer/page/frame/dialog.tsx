/**
 * A dialog. The browser keeps the focus inside and closes the dialog with Escape. The first field has
 * the focus, and afterwards the element that had the focus before: the opener. An opener that is gone,
 * such as the row of a deleted object, is replaced by what was around: the list, or the view.
 */
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "./parts.tsx";

interface DialogProps {
  readonly title: ComponentChildren;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}

export function Dialog({ title, children, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const element = dialog.current as HTMLDialogElement;
    const openers = focusableAncestors(document.activeElement);
    element.showModal();
    firstField(element)?.focus();
    return () => {
      element.close();
      openers.find(canHaveFocus)?.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => {
        // What is beside the dialog is its backdrop. A selection of text may end there.
        if (event.target === dialog.current) onClose();
      }}
    >
      <div class="dialog-content">
        <header class="dialog-header">
          <h2 id={titleId}>{title}</h2>
          <Button tone="quiet" icon="close" label="Close" onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** What the focus may return to: the nearest element first, and the view as the last. */
function focusableAncestors(opener: Element | null): readonly HTMLElement[] {
  const found: HTMLElement[] = [];
  for (let element = opener; element !== null; element = element.parentElement) {
    if (element instanceof HTMLElement && element.tabIndex >= 0) found.push(element);
  }
  const main = document.querySelector("main");
  return main === null ? found : [...found, main];
}

function canHaveFocus(element: HTMLElement): boolean {
  return element.isConnected && element.checkVisibility() && !element.matches(":disabled");
}

/** A dialog without a field asks a question: the focus is on its first button, which changes nothing. */
function firstField(dialog: HTMLElement): HTMLElement | undefined {
  const fields = dialog.querySelectorAll<HTMLElement>(
    "[autofocus], input, select, textarea, .dialog-actions button",
  );
  return [...fields].find((field) => canHaveFocus(field) && !field.matches("[type=hidden]"));
}
