/**
 * A cell that is edited in its place. Enter or leaving the field saves; Escape restores. What the rules
 * refuse stays in the field, with their messages.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { DnsProblem, DnsRecord } from "../../api/zones-api.ts";
import { useNotices } from "../state/notices.ts";
import { problemsOf } from "./dns-calls.ts";
import { ProblemLines } from "./problem-lines.tsx";
import { cellPatch, cellText, type RecordColumn } from "./record-cells.ts";
import { patchRecord } from "./record-writes.ts";

export interface CellProps {
  readonly zoneId: string;
  readonly record: DnsRecord;
  readonly column: RecordColumn;
  readonly label: string;
  /** The attributes of the cell in the grid. */
  readonly cell: Readonly<Record<string, unknown>>;
  readonly children: ComponentChildren;
  readonly onChanged: (record: DnsRecord) => void;
}

export function EditableCell(props: CellProps) {
  const { zoneId, record, column, label, cell, children, onChanged } = props;
  const [draft, setDraft] = useState<string | null>(null);
  const [problems, setProblems] = useState<readonly DnsProblem[]>([]);
  const [isSaving, setSaving] = useState(false);
  const element = useRef<HTMLTableCellElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const isMounted = useRef(true);
  const isBusy = useRef(false);
  const problemId = useId();
  const notices = useNotices();
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  const isEditing = draft !== null;
  const isEmpty = !isEditing && cellText(record, column) === "";
  // Before the next key: an effect after the paint would select what was typed meanwhile.
  useLayoutEffect(() => {
    if (!isEditing) return;
    input.current?.focus();
    input.current?.select();
  }, [isEditing]);

  const begin = (): void => {
    setDraft((before) => before ?? cellText(record, column));
    setProblems([]);
  };
  const end = (isFocused: boolean): void => {
    setDraft(null);
    setProblems([]);
    if (isFocused) element.current?.focus();
  };
  const save = async (text: string, isFocused: boolean): Promise<void> => {
    if (isBusy.current) return;
    const patch = cellPatch(record, column, text);
    if (patch === null) return end(isFocused);
    isBusy.current = true;
    setSaving(true);
    try {
      onChanged(await patchRecord(zoneId, record.id, patch));
      if (isMounted.current) end(isFocused && document.activeElement === input.current);
    } catch (error) {
      // The person may have left the table: the refusal must be heard there too.
      if (isMounted.current) setProblems(problemsOf(error));
      else {
        const sentence = `The change of ${record.name} was not saved.`;
        notices.show(`${sentence} ${(error as Error).message}`, { tone: "problem" });
      }
    } finally {
      isBusy.current = false;
      setSaving(false);
    }
  };

  return (
    <td
      {...cell}
      ref={element}
      class={`record-cell ${column} editable${isEmpty ? " empty" : ""}`}
      onClick={() => {
        if (isEditing || String(getSelection()) !== "") return;
        begin();
      }}
      onKeyDown={(event) => {
        if (isEditing || event.target !== element.current) return;
        if (event.key !== "Enter" && event.key !== "F2") return;
        event.preventDefault();
        begin();
      }}
    >
      {draft === null ? (
        children
      ) : (
        <>
          <input
            ref={input}
            class="input code"
            aria-label={`${label} of ${record.name}`}
            aria-invalid={problems.length > 0}
            {...(problems.length > 0 && { "aria-describedby": problemId })}
            autoComplete="off"
            spellcheck={false}
            readOnly={isSaving}
            value={draft}
            onInput={(event) => setDraft(event.currentTarget.value)}
            onBlur={(event) => void save(event.currentTarget.value, false)}
            onKeyDown={(event) => {
              if (event.key === "Enter") {
                event.preventDefault();
                void save(event.currentTarget.value, true);
              } else if (event.key === "Escape") {
                event.preventDefault();
                // The field loses the focus when it goes, and must not save then.
                isBusy.current = true;
                end(true);
                setTimeout(() => (isBusy.current = false));
              }
              event.stopPropagation();
            }}
          />
          {problems.length > 0 && <ProblemLines problems={problems} id={problemId} />}
        </>
      )}
    </td>
  );
}
