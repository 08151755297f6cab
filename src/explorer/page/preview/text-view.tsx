/** Text with the colours of its language, as far as it is loaded. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { formatBytes } from "../../../base/format.ts";
import type { ContentPart, ContentSource } from "./content-source.ts";
import type { Language } from "./text-language.ts";
import type { TokenRun } from "./token-runs.ts";
import { textPartBytes } from "./use-text.ts";
import { decodeUtf8 } from "./utf8-text.ts";

/** Longer texts are shown without colours: a hundred thousand elements slow down the page. */
const highlightedLengthMax = 512 * 1024;

interface TextViewProps {
  readonly part: ContentPart;
  readonly language: Language | null;
  /** Shows the bytes instead. */
  readonly onHex: () => void;
}

export function TextView({ part, language, onHex }: TextViewProps) {
  const { text, invalidBytes } = useMemo(
    () => decodeUtf8(part.bytes, { isWhole: part.isWhole }),
    [part],
  );
  const isColoured = language !== null && text.length <= highlightedLengthMax;
  const runs = useHighlighted(text, isColoured ? language : null);
  return (
    <>
      {invalidBytes > 0 && (
        <p class="preview-remark warning">
          {invalidBytes === 1 ? "1 byte is" : `${invalidBytes.toLocaleString("en")} bytes are`} not
          valid UTF-8, and shown as {"\uFFFD"}.{" "}
          <button type="button" class="link-button" onClick={onHex}>
            Show the bytes
          </button>
        </p>
      )}
      <pre class="preview-text code" role="region" aria-label="Text of the object" tabIndex={0}>
        {runs === null
          ? text
          : runs.map(({ text: run, tone }) =>
              tone === null ? run : <span class={`tone-${tone}`}>{run}</span>,
            )}
      </pre>
    </>
  );
}

/** `null` until the text is highlighted. */
function useHighlighted(text: string, language: Language | null): readonly TokenRun[] | null {
  const [highlighted, setHighlighted] = useState<{
    readonly text: string;
    readonly runs: readonly TokenRun[];
  } | null>(null);
  useEffect(() => {
    if (language === null) return undefined;
    let isEnded = false;
    import("./highlighter.ts").then(
      ({ highlightText }) => {
        if (!isEnded) setHighlighted({ text, runs: highlightText(text, language) });
      },
      // Without the highlighter, the text is shown without colours.
      () => {},
    );
    return () => {
      isEnded = true;
    };
  }, [text, language]);
  return language !== null && highlighted?.text === text ? highlighted.runs : null;
}

interface TextExtentProps {
  readonly source: ContentSource;
  readonly part: ContentPart;
  readonly isLoading: boolean;
  readonly onMore: () => void;
}

/** How much of the content is shown, and the way to more of it. */
export function TextExtent({ source, part, isLoading, onMore }: TextExtentProps) {
  if (part.isWhole && source.encoding === null) return null;
  const shown = formatBytes(part.bytes.length);
  const stored = formatBytes(source.size);
  return (
    <div class="preview-extent toolbar">
      <p>
        {source.encoding === null
          ? `The first ${shown} of ${stored} are shown.`
          : part.isDecoded
            ? `The content is stored with the encoding ${source.encoding} (${stored}) and shown ` +
              `decoded: ${part.isWhole ? shown : `the first ${shown}`}.`
            : `The content has the encoding ${source.encoding}, which the browser cannot decode. ` +
              `The bytes are shown as they are stored: ${shown} of ${stored}.`}
      </p>
      {!part.isWhole && (
        <button type="button" class="button" disabled={isLoading} onClick={onMore}>
          {isLoading ? "Loading more…" : `Show ${formatBytes(textPartBytes)} more`}
        </button>
      )}
    </div>
  );
}
