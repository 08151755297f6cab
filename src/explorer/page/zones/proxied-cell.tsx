/** Whether a record is proxied: a switch for the types that can be. */
import { useState } from "preact/hooks";
import type { DnsProblem } from "../../api/zones-api.ts";
import { problemsOf } from "./dns-calls.ts";
import type { CellProps } from "./editable-cell.tsx";
import { ProblemLines } from "./problem-lines.tsx";
import { patchRecord } from "./record-writes.ts";

export function ProxiedCell({ zoneId, record, cell, onChanged }: Omit<CellProps, "children">) {
  const [problems, setProblems] = useState<readonly DnsProblem[]>([]);
  const [isSaving, setSaving] = useState(false);
  const toggle = async (): Promise<void> => {
    if (isSaving) return;
    setSaving(true);
    setProblems([]);
    try {
      onChanged(await patchRecord(zoneId, record.id, { proxied: !record.proxied }));
    } catch (error) {
      setProblems(problemsOf(error));
    } finally {
      setSaving(false);
    }
  };
  return (
    <td
      {...cell}
      class="record-cell proxied"
      onKeyDown={(event) => {
        if (event.target !== event.currentTarget || !record.proxiable) return;
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        void toggle();
      }}
    >
      {record.proxiable ? (
        <button
          type="button"
          role="switch"
          class="switch"
          tabIndex={-1}
          aria-checked={record.proxied}
          aria-label={`Proxied: ${record.name}`}
          aria-busy={isSaving}
          onClick={() => void toggle()}
        >
          <span class="switch-knob" />
        </button>
      ) : (
        <span class="zones-hint" title={`${record.type} records cannot be proxied.`}>
          –
        </span>
      )}
      {problems.length > 0 && <ProblemLines problems={problems} />}
    </td>
  );
}
