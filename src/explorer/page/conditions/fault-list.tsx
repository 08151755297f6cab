/** The faults in force, with how often each has hit, and a button that switches the fault off. */
import { counted } from "../../../base/format.ts";
import { describeBucketFault, readBucketFault } from "./bucket-fault-form.ts";
import { describeDnsFault, isDnsFault, readDnsFault } from "./dns-fault-form.ts";

interface FaultListProps {
  readonly label: string;
  readonly faults: readonly { readonly text: string }[];
  readonly hits: Readonly<Record<string, number>>;
  readonly onRemove: (text: string) => void;
}

export function FaultList({ label, faults, hits, onRemove }: FaultListProps) {
  if (faults.length === 0) return <p class="conditions-none">No fault is in force.</p>;
  return (
    <ul class="fault-list" aria-label={label}>
      {faults.map(({ text }) => (
        <li key={text}>
          <div class="fault-text">
            <bdi class="code">{text}</bdi>
            <p>{describeFault(text)}</p>
          </div>
          <span class={hits[text] ? "badge warning" : "badge"}>
            {counted(hits[text] ?? 0, "hit")}
          </span>
          <button
            type="button"
            class="button"
            aria-label={`Switch off ${text}`}
            onClick={() => onRemove(text)}
          >
            Switch off
          </button>
        </li>
      ))}
    </ul>
  );
}

/** `null` for a fault that says more than the forms have. */
function describeFault(text: string): string | null {
  if (isDnsFault(text)) {
    const form = readDnsFault(text);
    return form === null ? null : capitalize(describeDnsFault(form));
  }
  const form = readBucketFault(text);
  return form === null ? null : capitalize(describeBucketFault(form));
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
