/**
 * The content of an object: as the browser shows media, as highlighted text, or as its first bytes.
 * Content with an encoding such as gzip is decoded by the browser, as far as the browser knows the
 * encoding; a range has the stored bytes.
 */
import { useEffect, useMemo, useState } from "preact/hooks";
import { formatBytes } from "../../../base/format.ts";
import type { ObjectDetails } from "../../api/buckets.ts";
import { apiUrl, bucketPath, readFailure, unreachable } from "../api-client.ts";
import { Button, Empty, Loading, Problem } from "../frame/parts.tsx";
import { useFetched } from "../frame/events.ts";
import {
  contentKind,
  type Language,
  type MediaKind,
  decodeText,
  hexLines,
  indentJson,
} from "./content-kind.ts";
import type { TokenRun } from "./highlighter.ts";

/** How much of a text is loaded at a time. */
const textPartBytes = 256 * 1024;
/** Longer texts are shown without colours: a hundred thousand elements slow down the page. */
const highlightedLengthMax = 512 * 1024;
const hexBytes = 4096;

interface ContentViewProps {
  readonly bucket: string;
  readonly details: ObjectDetails;
}

export function ContentView({ bucket, details }: ContentViewProps) {
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
  return <LoadedContent bucket={bucket} details={details} />;
}

type Tab = "Preview" | "Text" | "Hex";

function LoadedContent({ bucket, details }: ContentViewProps) {
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
  if (problem !== undefined) return <Problem problem={problem} onRetry={reload} />;
  if (data === undefined) return <Loading what="the content" />;
  const { kind, language, neededType } = contentKind(details, data.bytes);
  const tabs = tabsOf(kind, language);
  const tab = chosenTab ?? tabs[0];
  return (
    <>
      <div class="toolbar" role="group" aria-label="Show the content as">
        {tabs.map((name) => (
          <button
            key={name}
            type="button"
            class="button chip"
            aria-pressed={tab === name}
            onClick={() => setTab(name)}
          >
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
          <button type="button" class="button" onClick={onHex}>
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
            <Button isDisabled={isLoading} onClick={onMore}>
              {isLoading ? "Loading more…" : `Show ${formatBytes(textPartBytes)} more`}
            </Button>
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

interface ContentSource {
  readonly url: string;
  /** The bytes that are stored. */
  readonly size: number;
  readonly etag: string;
  /** The content encoding; `null` without one. */
  readonly encoding: string | null;
}

type ContentPart = ReturnType<typeof contentPart>;

function contentSource(bucket: string, details: ObjectDetails): ContentSource {
  const { key, size, etag, httpMetadata } = details;
  const encoding = httpMetadata.contentEncoding?.trim().toLowerCase() ?? "";
  const url = apiUrl(bucketPath(bucket, "/content"), { key });
  const isPlain = encoding === "" || encoding === "identity";
  return { url, size, etag, encoding: isPlain ? null : encoding };
}

/**
 * The first bytes, decoded if that is possible.
 *
 * @throws ApiCallError
 */
async function readContent(
  source: ContentSource,
  length: number,
  signal: AbortSignal,
): Promise<ContentPart> {
  if (source.encoding === null) return readStored(source, length, signal);
  try {
    const response = await open(source, {}, signal);
    const { bytes, isWhole } = await readUpTo(response, length);
    return contentPart(bytes, isWhole, response.headers.has("content-encoding"));
  } catch {
    // The content may have another encoding than its metadata say.
    signal.throwIfAborted();
    return readStored(source, length, signal);
  }
}

/**
 * The first bytes as they are stored.
 *
 * @throws ApiCallError
 */
async function readStored(
  source: ContentSource,
  length: number,
  signal: AbortSignal,
): Promise<ContentPart> {
  const response = await open(source, { range: `bytes=0-${length - 1}` }, signal);
  const { bytes } = await readUpTo(response, length).catch((error: unknown) => {
    signal.throwIfAborted();
    throw unreachable(error);
  });
  return contentPart(bytes, bytes.length >= source.size, false);
}

/**
 * @param isWhole whether the content ends with these bytes
 * @param isDecoded whether an encoding was undone: the bytes are not the bytes that are stored
 */
function contentPart(bytes: Uint8Array, isWhole: boolean, isDecoded: boolean) {
  // Parts of the same content are equal if they are as long: `useFetched()` compares by JSON.
  return { bytes, isWhole, isDecoded, toJSON: () => [bytes.length, isWhole, isDecoded] };
}

async function open(
  { url }: ContentSource,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Response> {
  const response = await fetch(url, { headers, signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw unreachable(error);
  });
  if (!response.ok) throw readFailure(response.status, await response.text().catch(() => ""));
  return response;
}

async function readUpTo(response: Response, length: number) {
  const reader = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let isWhole = false;
  for (let count = 0; count <= length && !isWhole; count += chunks.at(-1)?.length ?? 0) {
    const { done, value } = await reader.read();
    isWhole = done;
    if (!done) chunks.push(value);
  }
  await reader.cancel();
  return { bytes: (await new Blob(chunks).bytes()).subarray(0, length), isWhole };
}
