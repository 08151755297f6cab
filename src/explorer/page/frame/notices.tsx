/** Short messages about what was done, with what can be undone. They are read out to screen readers. */
import { createContext, type ComponentChildren } from "preact";
import { useContext, useMemo, useRef, useState } from "preact/hooks";
import { Icon } from "./icon.tsx";

interface Notice {
  readonly id: number;
  readonly text: string;
  readonly tone: "plain" | "problem";
  readonly action?: { readonly label: string; readonly act: () => void };
  /** How long the notice stays; a problem stays until it is dismissed. */
  readonly milliseconds: number;
}

export interface Notices {
  readonly show: (
    text: string,
    options?: Partial<Pick<Notice, "tone" | "action" | "milliseconds">>,
  ) => number;
  readonly dismiss: (id: number) => void;
}

export const NoticesContext = createContext<Notices>({ show: () => 0, dismiss: () => {} });

export function useNotices(): Notices {
  return useContext(NoticesContext);
}

const shownMilliseconds = 5000;

/** For the frame of the page: the other parts use `useNotices()`. */
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

interface NoticeListProps {
  readonly list: readonly Notice[];
  readonly onDismiss: (id: number) => void;
  /** The tasks, which stand above the notices. */
  readonly children?: ComponentChildren;
}

export function NoticeList({ list, onDismiss, children }: NoticeListProps) {
  return (
    <div class="notices">
      {children}
      <div role="status" aria-live="polite">
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
              class="button quiet icon-button"
              aria-label="Dismiss"
              onClick={() => onDismiss(id)}
            >
              <Icon name="close" />
            </button>
          </div>
        ))}
      </div>
    </div>
  );
}
