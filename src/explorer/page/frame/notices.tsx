/** Short messages about what was done, with what can be done next. They are read out to screen readers. */
import { createContext, type ComponentChildren } from "preact";
import { useContext, useMemo, useState } from "preact/hooks";
import { Button } from "./parts.tsx";

interface NoticeOptions {
  /** A problem stays until it is dismissed. */
  readonly tone?: "plain" | "problem";
  readonly action?: { readonly label: string; readonly act: () => void };
}

interface Notice extends NoticeOptions {
  readonly text: string;
}

interface Notices {
  readonly list: readonly Notice[];
  readonly show: (text: string, options?: NoticeOptions) => void;
  readonly dismiss: (notice: Notice) => void;
}

const NoticesContext = createContext<Notices | null>(null);

export function useNotices(): Notices {
  return useContext(NoticesContext) as Notices;
}

const shownMilliseconds = 5000;
/** As long as a deletion can be undone. */
const undoableMilliseconds = 10_000;

export function NoticesProvider({ children }: { readonly children: ComponentChildren }) {
  const [list, setList] = useState<readonly Notice[]>([]);
  const notices = useMemo<Notices>(() => {
    const dismiss = (notice: Notice): void =>
      setList((before) => before.filter((other) => other !== notice));
    const show: Notices["show"] = (text, options = {}) => {
      const notice = { text, ...options };
      setList((before) => [...before, notice]);
      const milliseconds = options.action === undefined ? shownMilliseconds : undoableMilliseconds;
      if (options.tone !== "problem") setTimeout(() => dismiss(notice), milliseconds);
    };
    return { list, show, dismiss };
  }, [list]);
  return <NoticesContext.Provider value={notices}>{children}</NoticesContext.Provider>;
}

/** @param children the tasks, which stand above the notices */
export function NoticeList({ children }: { readonly children: ComponentChildren }) {
  const { list, dismiss } = useNotices();
  return (
    <div class="notices">
      {children}
      <div role="status" aria-live="polite">
        {list.map((notice, index) => (
          <div key={index} class={`notice ${notice.tone ?? "plain"}`}>
            <p>{notice.text}</p>
            {notice.action !== undefined && (
              <Button
                onClick={() => {
                  notice.action?.act();
                  dismiss(notice);
                }}
              >
                {notice.action.label}
              </Button>
            )}
            <Button tone="quiet" icon="close" label="Dismiss" onClick={() => dismiss(notice)} />
          </div>
        ))}
      </div>
    </div>
  );
}
