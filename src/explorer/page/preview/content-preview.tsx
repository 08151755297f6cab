/** The content of an object: as a preview by its kind, as text, or as bytes. */
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { ObjectDetails } from "../../api/buckets.ts";
import { Empty, Loading, Problem } from "../parts/states.tsx";
import { useFetched } from "../state/use-fetched.ts";
import {
  contentSource,
  readContent,
  type ContentPart,
  type ContentSource,
} from "./content-source.ts";
import { HexView } from "./hex-view.tsx";
import { readJson } from "./json-reader.ts";
import { JsonView } from "./json-view.tsx";
import { MediaView } from "./media-view.tsx";
import { previewKind, textLanguage } from "./preview-kind.ts";
import { TextExtent, TextView } from "./text-view.tsx";
import { useText, type LoadedText } from "./use-text.ts";
import { decodeUtf8 } from "./utf8-text.ts";

const modes = ["Preview", "Text", "Hex"] as const;
type Mode = (typeof modes)[number];

/** What the first bytes are read for: what the content is. */
const headBytes = 4096;
/** The status of a call for content that has changed since its details were loaded. */
const changed = 412;

interface ContentPreviewProps {
  readonly bucket: string;
  readonly details: ObjectDetails;
  /** Loads the details again, after the content has changed. */
  readonly onReload: () => void;
}

export function ContentPreview({ bucket, details, onReload }: ContentPreviewProps) {
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
  if (details.size === 0) {
    return (
      <Empty title="0 bytes">
        <p>The object has no content.</p>
      </Empty>
    );
  }
  return <ContentView bucket={bucket} details={details} onReload={onReload} />;
}

function ContentView({ bucket, details, onReload }: ContentPreviewProps) {
  const source = useMemo(() => contentSource(bucket, details), [bucket, details]);
  const head = useFetched(
    (signal) => readContent(source, { length: headBytes, before: null }, signal),
    `${source.url} ${source.etag}`,
  );
  if (head.data === undefined) {
    return head.problem === undefined || head.isLoading ? (
      <Loading what="the content" />
    ) : (
      <Problem
        problem={head.problem}
        onRetry={head.problem.status === changed ? onReload : head.reload}
      />
    );
  }
  return <KnownContent details={details} source={source} head={head.data} onReload={onReload} />;
}

interface KnownContentProps {
  readonly details: ObjectDetails;
  readonly source: ContentSource;
  readonly head: ContentPart;
  readonly onReload: () => void;
}

function KnownContent({ details, source, head, onReload }: KnownContentProps) {
  const [mode, setMode] = useState<Mode>("Preview");
  const choice = useMemo(() => previewKind({ ...details, head: head.bytes }), [details, head]);
  const shown = mode === "Hex" ? "hex" : mode === "Text" ? "text" : choice.kind;
  const text = useText(source, head, shown === "json" || shown === "text");
  const showBytes = (): void => setMode("Hex");
  return (
    <>
      <div class="segments" role="group" aria-label="Show the content as">
        {modes.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={mode === name}
            onClick={() => setMode(name)}
          >
            {name}
          </button>
        ))}
      </div>
      {mode === "Preview" && choice.neededType !== null && (
        <p class="preview-remark">
          The browser shows this content with the content type{" "}
          <span class="code">{choice.neededType}</span>. Edit the metadata to set the type.
        </p>
      )}
      {shown === "json" || shown === "text" ? (
        <TextContent source={source} text={text} onReload={onReload}>
          {(part) =>
            shown === "json" ? (
              <JsonContent part={part} onHex={showBytes} />
            ) : (
              <TextView
                part={part}
                language={textLanguage(details) ?? choice.language}
                onHex={showBytes}
              />
            )
          }
        </TextContent>
      ) : shown === "hex" ? (
        <HexView source={source} />
      ) : (
        <MediaView kind={shown} objectKey={details.key} source={source} />
      )}
    </>
  );
}

interface TextContentProps {
  readonly source: ContentSource;
  readonly text: LoadedText;
  readonly onReload: () => void;
  readonly children: (part: ContentPart) => ComponentChildren;
}

/** The part of a text that is loaded, with what stands in the way of more. */
function TextContent({ source, text, onReload, children }: TextContentProps) {
  const { part, problem, isLoading, more, retry } = text;
  return (
    <>
      {part !== null && children(part)}
      {part === null && isLoading && <Loading what="the text" />}
      {problem !== null && (
        <Problem problem={problem} onRetry={problem.status === changed ? onReload : retry} />
      )}
      {part !== null && problem === null && (
        <TextExtent source={source} part={part} isLoading={isLoading} onMore={more} />
      )}
    </>
  );
}

function JsonContent({ part, onHex }: { readonly part: ContentPart; readonly onHex: () => void }) {
  const { root, problem } = useMemo(() => {
    const { text } = decodeUtf8(part.bytes, { isWhole: part.isWhole });
    return readJson(text, { isCut: !part.isWhole });
  }, [part]);
  if (root !== null) return <JsonView root={root} />;
  return (
    <>
      <p class="preview-remark warning">
        The content is not valid JSON and is shown as text. Line {problem.line}, column{" "}
        {problem.column}: {problem.message}
      </p>
      <TextView part={part} language="json" onHex={onHex} />
    </>
  );
}
