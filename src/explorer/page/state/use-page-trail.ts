/** The pages that were visited of each list. They outlast a reload, but not the tab. */
import { useCallback, useMemo, useState } from "preact/hooks";
import { firstTrail, type PageTrail } from "../objects/page-trail.ts";

const namePrefix = "ledge-pages ";

export function usePageTrail(
  bucket: string,
  prefix: string,
): readonly [PageTrail, (trail: PageTrail) => void] {
  const name = `${namePrefix}${bucket}/${prefix}`;
  const [round, setRound] = useState(0);
  const trail = useMemo(() => readTrail(name), [name, round]);
  const keepTrail = useCallback(
    (next: PageTrail) => {
      try {
        sessionStorage.setItem(name, JSON.stringify(next));
      } catch {
        // The storage is full. Without the trails, the way back leads to the first page.
        for (const stored of Object.keys(sessionStorage)) {
          if (stored.startsWith(namePrefix)) sessionStorage.removeItem(stored);
        }
      }
      setRound((before) => before + 1);
    },
    [name],
  );
  return [trail, keepTrail];
}

function readTrail(name: string): PageTrail {
  const text = sessionStorage.getItem(name);
  return text === null ? firstTrail : (JSON.parse(text) as PageTrail);
}
