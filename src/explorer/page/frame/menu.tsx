/**
 * A button that opens a menu. The arrows, Home and End move, Enter and Space choose, Escape and Tab
 * close. The focus returns to the button before an item
 * acts, so that a dialog of the item returns the focus to the button, too.
 */
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./icon.tsx";

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  readonly act: () => void;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  /** The current one of several choices. */
  readonly isChecked?: boolean;
}

interface MenuProps {
  /** What a screen reader says: "Actions of cat.jpg". */
  readonly label: string;
  /** A function is called when the menu opens: a list with many menus makes no items. */
  readonly items: readonly MenuItem[] | (() => readonly MenuItem[]);
  readonly icon?: IconName;
  /** Shown beside the icon. */
  readonly text?: string;
  readonly tabIndex?: number;
}

const margin = 4;

export function Menu({ label, items, icon = "more", text, tabIndex }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const entries = (): HTMLElement[] => [
    ...(menu.current?.querySelectorAll<HTMLElement>("button:enabled") ?? []),
  ];
  // The menu is in the document while it is open.
  useLayoutEffect(() => {
    if (!isOpen || menu.current === null || button.current === null) return;
    menu.current.showPopover();
    place(menu.current, button.current);
    entries()[0]?.focus();
  }, [isOpen]);
  const close = (): void => {
    menu.current?.hidePopover();
    button.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const all = entries();
    const at = all.findIndex((entry) => entry === document.activeElement);
    const targets: Readonly<Record<string, number>> = {
      ArrowDown: (at + 1) % all.length,
      ArrowUp: (at <= 0 ? all.length : at) - 1,
      Home: 0,
      End: -1,
    };
    const target = targets[event.key];
    if (target !== undefined) all.at(target)?.focus();
    else if (event.key === "Escape" || event.key === "Tab") close();
    else return;
    event.preventDefault();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class={`button quiet ${text === undefined ? "icon-button" : ""}`}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        tabIndex={tabIndex}
        onClick={(event) => {
          event.stopPropagation();
          if (isOpen) close();
          else setOpen(true);
        }}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown" || isOpen) return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        <Icon name={icon} />
        {text}
      </button>
      {isOpen && (
        <div
          id={id}
          ref={menu}
          class="menu"
          role="menu"
          aria-label={label}
          popover="auto"
          onToggle={(event) => {
            if (event.newState === "closed") setOpen(false);
          }}
          onKeyDown={onKeyDown}
        >
          {(typeof items === "function" ? items() : items).map(
            ({ label: itemLabel, icon: itemIcon, act, isDanger, isDisabled, isChecked }) => (
              <button
                key={itemLabel}
                type="button"
                role={isChecked === undefined ? "menuitem" : "menuitemradio"}
                aria-checked={isChecked}
                class={isDanger === true ? "menu-item danger" : "menu-item"}
                tabIndex={-1}
                disabled={isDisabled === true}
                onClick={(event) => {
                  event.stopPropagation();
                  close();
                  act();
                }}
              >
                {itemIcon !== undefined && <Icon name={itemIcon} />}
                <span>{itemLabel}</span>
                {isChecked === true && <Icon name="check" />}
              </button>
            ),
          )}
        </div>
      )}
    </>
  );
}

/** Below the button, or above a button at the lower edge; within the window. */
function place(menu: HTMLElement, button: HTMLElement): void {
  const { left, right, top, bottom } = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = menu;
  const isRightHalf = left + right > innerWidth;
  const wantedLeft = isRightHalf ? right - width : left;
  const wantedTop =
    bottom + margin + height > innerHeight ? top - margin - height : bottom + margin;
  const within = (wanted: number, size: number, space: number): string =>
    `${Math.max(margin, Math.min(wanted, space - size - margin))}px`;
  menu.style.left = within(wantedLeft, width, innerWidth);
  menu.style.top = within(wantedTop, height, innerHeight);
}
