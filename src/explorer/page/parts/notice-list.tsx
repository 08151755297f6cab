import { useMemo, useRef, useState } from "preact/hooks";
import type { Notice, Notices } from "../state/notices.ts";

const shownMilliseconds = 5000;

export function useNoticeList(): { readonly list: readonly Notice[]; readonly notices: Notices } {
  const [list, setList] = useState<readonly Notice[]>([]);
  const nextId = useRef(1);
  const notices = useMemo<Notices>(() => {
    const dismiss = (id: number): void =>
      setList((before) => before.filter((notice) => notice.id !== id));
    return {
      dismiss,
      show: (text, { tone = "plain", action, milliseconds } = {}) => {
        const id = nextId.current++;
        const stays = milliseconds ?? (tone === "problem" ? Infinity : shownMilliseconds);
        const notice: Notice = { id, text, tone, milliseconds: stays, ...(action && { action }) };
        setList((before) => [...before, notice]);
        if (stays !== Infinity) setTimeout(() => dismiss(id), stays);
        return id;
      },
    };
  }, []);
  return { list, notices };
}

export function NoticeList({
  list,
  onDismiss,
}: {
  readonly list: readonly Notice[];
  readonly onDismiss: (id: number) => void;
}) {
  return (
    <div class="notices" role="status" aria-live="polite">
      {list.map(({ id, text, tone, action }) => (
        <div key={id} class={`notice ${tone}`}>
          <p>{text}</p>
          {action !== undefined && (
            <button
              type="button"
              class="button"
              onClick={() => {
                action.act();
                onDismiss(id);
              }}
            >
              {action.label}
            </button>
          )}
          <button
            type="button"
            class="button quiet"
            aria-label="Dismiss"
            onClick={() => onDismiss(id)}
          >
            ✕
          </button>
        </div>
      ))}
    </div>
  );
}
