/** What stands around the list: the search, the actions on selected rows, and the steps between pages. */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatBytes } from "../../../base/format.ts";
import { apiUrl, bucketPath } from "../api-client.ts";
import { countedNoun, shownKey } from "../frame/format.ts";
import type { MenuItem } from "../frame/menu.tsx";
import { Button } from "../frame/parts.tsx";
import type { ObjectList } from "./use-object-list.ts";
import { splitPrefix, selectionOf, type ObjectRow } from "./object-rows.ts";

interface SelectionBarProps {
  readonly selected: readonly ObjectRow[];
  readonly actions: readonly MenuItem[];
  readonly onClear: () => void;
}

export function SelectionBar({ selected, actions, onClear }: SelectionBarProps) {
  return (
    <div class="toolbar">
      <p class="soft" role="status">
        {countedNoun(selected.length, "row")} selected{sizeText(selected)}
      </p>
      {actions.map(({ label, icon = "file", isDanger, act }) => (
        <Button key={label} icon={icon} {...(isDanger && { tone: "danger" })} onClick={act}>
          {label}
        </Button>
      ))}
      <Button tone="quiet" onClick={onClear}>
        Clear
      </Button>
    </div>
  );
}

/** The size of folders is not known. */
function sizeText(rows: readonly ObjectRow[]): string {
  if (rows.some(({ object }) => object === null)) return "";
  return `, ${formatBytes(rows.reduce((sum, { object }) => sum + (object?.size ?? 0), 0))}`;
}

/** One object as it is, or folders and several rows as a zip file. */
export function downloadRows(bucket: string, rows: readonly ObjectRow[]): void {
  const [only] = rows;
  if (only !== undefined && rows.length === 1) {
    const link = document.createElement("a");
    link.download = "";
    link.href =
      only.object === null
        ? apiUrl(bucketPath(bucket, "/archive"), { prefix: only.path })
        : apiUrl(bucketPath(bucket, "/content"), { key: only.path, download: 1 });
    link.click();
    return;
  }
  // A form sends what an address has no room for.
  const form = document.createElement("form");
  const field = document.createElement("input");
  const { keys, prefixes } = selectionOf(bucket, rows);
  Object.assign(field, { name: "selection", value: JSON.stringify({ keys, prefixes }) });
  Object.assign(form, {
    method: "post",
    action: apiUrl(bucketPath(bucket, "/archive")),
    hidden: true,
  });
  form.append(field);
  document.body.append(form);
  form.submit();
  form.remove();
}

/** The list is requested when no key was pressed for this time. */
const typingMilliseconds = 80;

interface PrefixSearchProps {
  readonly field: RefObject<HTMLInputElement | null>;
  readonly prefix: string;
  readonly onSearch: (prefix: string) => void;
  /** The person is done with the field, and goes on with the list. */
  readonly onLeave: () => void;
}

/**
 * The field that searches by prefix while a person types, among all keys. The field has what is after
 * the folder; a delimiter leads into a folder, and the field then is empty.
 */
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
      aria-label="Search all keys by prefix"
      placeholder="Search all keys by prefix  /"
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

/** Which rows of a list with several pages are shown. The browser goes back to the page before. */
export function PageSteps({ list }: { readonly list: ObjectList }) {
  const { rows, shown, next, isWhole, goTo } = list;
  if (isWhole || shown === undefined) return null;
  return (
    <div class="toolbar page-steps soft">
      <p role="status">
        {shown.after === "" ? "The first " : ""}
        {countedNoun(rows.length, "row")}
        {shown.after !== "" && (
          <>
            {" "}
            after <bdi>{shownKey(shown.after)}</bdi>
          </>
        )}
        . Sorting and selecting cover this page.
      </p>
      <Button isDisabled={shown.after === ""} onClick={() => goTo("")}>
        First page
      </Button>
      <Button isDisabled={next === null} onClick={() => goTo(next)}>
        Next page
      </Button>
    </div>
  );
}
