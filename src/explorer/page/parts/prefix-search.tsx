/**
 * The field that searches by prefix while a person types. The field has what is after the folder; a
 * delimiter leads into a folder, and the field then is empty.
 */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { splitPrefix } from "../objects/folder-path.ts";

/** The list is requested when no key was pressed for this time. */
const typingMilliseconds = 80;

interface PrefixSearchProps {
  readonly field: RefObject<HTMLInputElement | null>;
  readonly prefix: string;
  readonly onSearch: (prefix: string) => void;
  /** The person is done with the field, and goes on with the list. */
  readonly onLeave: () => void;
}

export function PrefixSearch({ field, prefix, onSearch, onLeave }: PrefixSearchProps) {
  const [typed, setTyped] = useState(() => splitPrefix(prefix));
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const search = (wanted: string): void => {
    clearTimeout(timer.current);
    timer.current = undefined;
    setTyped(splitPrefix(wanted));
    onSearch(wanted);
  };
  const type = (text: string): void => {
    const next = { folder: typed.folder, text };
    setTyped(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => search(next.folder + next.text), typingMilliseconds);
  };
  // What is typed now is newer than the address.
  useEffect(() => {
    if (timer.current === undefined) setTyped(splitPrefix(prefix));
  }, [prefix]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <input
      ref={field}
      type="search"
      class="input prefix-search"
      aria-label="Search by prefix"
      placeholder="Search by prefix  /"
      autocomplete="off"
      spellcheck={false}
      value={typed.text}
      onInput={(event) => type(event.currentTarget.value)}
      onKeyDown={(event) => {
        const isEmpty = typed.text === "";
        if (event.key === "Escape") {
          event.preventDefault();
          if (isEmpty) onLeave();
          else search(typed.folder);
        } else if (event.key === "Enter" || event.key === "ArrowDown") {
          event.preventDefault();
          if (timer.current !== undefined) search(typed.folder + typed.text);
          onLeave();
        } else if (event.key === "Backspace" && isEmpty && typed.folder !== "") {
          // The whole prefix is one text for the person who types it.
          event.preventDefault();
          search(typed.folder.slice(0, -1));
        }
      }}
    />
  );
}
