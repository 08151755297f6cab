/** The content of an object: as the browser shows media, as highlighted text, or as its first bytes. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { formatBytes } from "../../../base/format.ts";
import type { ObjectDetails } from "../../api/buckets.ts";
import { Empty, Loading, Problem } from "../frame/parts.tsx";
import { useFetched } from "../frame/events.ts";
import { contentKind, type Language, type MediaKind } from "./content-kind.ts";
import {
  changedStatus,
  contentSource,
  readContent,
  readStored,
  type ContentPart,
  type ContentSource,
} from "./content-source.ts";
import { decodeText, hexLines, indentJson } from "./content-text.ts";
import type { TokenRun } from "./highlighter.ts";

/** How much of a text is loaded at a time. */
const textPartBytes = 256 * 1024;
/** Longer texts are shown without colours: a hundred thousand elements slow down the page. */
const highlightedLengthMax = 512 * 1024;
const hexBytes = 4096;

interface ContentViewProps {
  readonly bucket: string;
  readonly details: ObjectDetails;
  /** Loads the details again, after the content has changed. */
  readonly onReload: () => void;
}

export function ContentView({ bucket, details, onReload }: ContentViewProps) {
  if (details.hasCustomerKey) {
    return (
      <Empty title="The content cannot be shown">
        <p>
          The object is encrypted with a key of the customer, which the explorer does not have. Read
          the object with the program that has the key.
        </p>
      </Empty>
    );
  }
  if (details.size === 0) return <Empty title="The object has no content" />;
  return <LoadedContent bucket={bucket} details={details} onReload={onReload} />;
}

type Tab = "Preview" | "Text" | "Hex";

function LoadedContent({ bucket, details, onReload }: ContentViewProps) {
  const source = useMemo(() => contentSource(bucket, details), [bucket, details]);
  const [length, setLength] = useState(textPartBytes);
  const { data, problem, isLoading, reload } = useFetched(
    (signal) => readContent(source, length, signal),
    `${source.url} ${source.etag}`,
  );
  useEffect(() => {
    if (length > textPartBytes) reload();
  }, [length]);
  const [chosenTab, setTab] = useState<Tab>();
  if (problem !== undefined) {
    return (
      <Problem problem={problem} onRetry={problem.status === changedStatus ? onReload : reload} />
    );
  }
  if (data === undefined) return <Loading what="the content" />;
  const { kind, language, neededType } = contentKind({ ...details, head: data.bytes });
  const tabs = tabsOf(kind, language);
  const tab = chosenTab ?? tabs[0];
  return (
    <>
      <div class="segments" role="group" aria-label="Show the content as">
        {tabs.map((name) => (
          <button key={name} type="button" aria-pressed={tab === name} onClick={() => setTab(name)}>
            {name}
          </button>
        ))}
      </div>
      {neededType !== null && (
        <p class="preview-remark">
          The browser shows this content with the content type{" "}
          <span class="code">{neededType}</span>. Edit the metadata to set the type.
        </p>
      )}
      {tab === "Text" ? (
        <TextView
          source={source}
          part={data}
          language={language}
          isLoading={isLoading}
          onMore={() => setLength(length + textPartBytes)}
          onHex={() => setTab("Hex")}
        />
      ) : tab === "Hex" ? (
        <HexView source={source} />
      ) : (
        <MediaView kind={kind as MediaKind} objectKey={details.key} source={source} />
      )}
    </>
  );
}

/** The first tab is the preview. The source of an SVG image is text. */
function tabsOf(kind: string, language: Language | null): readonly [Tab, ...Tab[]] {
  if (kind === "text") return ["Text", "Hex"];
  if (kind === "hex") return ["Hex", "Text"];
  return language === "xml" ? ["Preview", "Text", "Hex"] : ["Preview", "Hex"];
}

interface TextViewProps {
  readonly source: ContentSource;
  readonly part: ContentPart;
  readonly language: Language | null;
  readonly isLoading: boolean;
  /** Loads the next part. */
  readonly onMore: () => void;
  /** Shows the bytes instead. */
  readonly onHex: () => void;
}

function TextView({ source, part, language, isLoading, onMore, onHex }: TextViewProps) {
  const { text, isValid } = useMemo(() => {
    const decoded = decodeText(part.bytes, part.isWhole);
    const isLine = language === "json" && !decoded.text.trim().includes("\n");
    return isLine ? { ...decoded, text: indentJson(decoded.text) } : decoded;
  }, [part, language]);
  const runs = useHighlighted(text, text.length > highlightedLengthMax ? null : language);
  return (
    <>
      {!isValid && (
        <p class="preview-remark warning">
          Some bytes are not valid UTF-8, and shown as {"\uFFFD"}.{" "}
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
      {(!part.isWhole || source.encoding !== null) && (
        <div class="preview-extent toolbar">
          <p>{extentText(source, part)}</p>
          {!part.isWhole && (
            <button type="button" class="button" disabled={isLoading} onClick={onMore}>
              {isLoading ? "Loading more…" : `Show ${formatBytes(textPartBytes)} more`}
            </button>
          )}
        </div>
      )}
    </>
  );
}

function extentText({ encoding, size }: ContentSource, part: ContentPart): string {
  const shown = `${part.isWhole ? "" : "the first "}${formatBytes(part.bytes.length)}`;
  const stored = formatBytes(size);
  if (encoding === null) return `Shown: ${shown} of ${stored}.`;
  if (part.isDecoded)
    return `Stored with the encoding ${encoding} (${stored}), shown decoded: ${shown}.`;
  return (
    `The content has the encoding ${encoding}, which the browser cannot decode. The bytes are shown ` +
    `as they are stored: ${shown} of ${stored}.`
  );
}

/** `null` until the text is highlighted. */
function useHighlighted(text: string, language: Language | null): readonly TokenRun[] | null {
  const [done, setDone] = useState<{ readonly text: string; readonly runs: readonly TokenRun[] }>();
  useEffect(() => {
    if (language === null) return undefined;
    let isEnded = false;
    import("./highlighter.ts").then(
      ({ highlightText }) => {
        if (!isEnded) setDone({ text, runs: highlightText(text, language) });
      },
      // Without the highlighter, the text is shown without colours.
      () => {},
    );
    return () => {
      isEnded = true;
    };
  }, [text, language]);
  return language !== null && done?.text === text ? done.runs : null;
}

/** The first bytes as they are stored. */
function HexView({ source }: { readonly source: ContentSource }) {
  const { data, problem, reload } = useFetched(
    (signal) => readStored(source, hexBytes, signal),
    `${source.url} ${source.etag}`,
  );
  if (problem !== undefined) return <Problem problem={problem} onRetry={reload} />;
  if (data === undefined) return <Loading what="the bytes" />;
  return (
    <>
      <pre class="preview-text code" role="region" aria-label="Bytes of the object" tabIndex={0}>
        {hexLines(data.bytes).join("\n")}
      </pre>
      {!data.isWhole && (
        <p class="preview-extent">
          The first {formatBytes(hexBytes)} of {formatBytes(source.size)} are shown. Download the
          object to see the others.
        </p>
      )}
    </>
  );
}

interface MediaViewProps {
  readonly kind: MediaKind;
  readonly objectKey: string;
  readonly source: ContentSource;
}

function MediaView({ kind, objectKey, source: { url }, source }: MediaViewProps) {
  const [isBroken, setBroken] = useState(false);
  const [size, setSize] = useState("");
  const onError = (): void => setBroken(true);
  if (isBroken) {
    return (
      <>
        <p class="preview-remark warning" role="status">
          The browser cannot show this content as {kind === "image" ? "an image" : kind}: it is
          damaged, its content type is wrong, or the browser has no codec for it. The bytes are
          shown instead.
        </p>
        <HexView source={source} />
      </>
    );
  }
  const media = { controls: true, preload: "metadata" as const, src: url, onError };
  switch (kind) {
    case "image":
      return (
        <figure class="preview-image">
          <div class="checkerboard">
            <img
              src={url}
              alt={`Image of ${objectKey}`}
              onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
                setSize(`${naturalWidth} × ${naturalHeight} pixels`)
              }
              onError={onError}
            />
          </div>
          <figcaption>{size === "" ? "Loading the image…" : size}</figcaption>
        </figure>
      );
    case "audio":
      return <audio class="preview-audio" aria-label={`Sound of ${objectKey}`} {...media} />;
    case "video":
      return <video class="preview-video" aria-label={`Video of ${objectKey}`} {...media} />;
    case "pdf":
      return <iframe class="preview-pdf" title={`PDF document ${objectKey}`} src={url} />;
  }
}
