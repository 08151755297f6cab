/** Images, audio, video and PDF documents, as the browser shows them. */
import { useState } from "preact/hooks";
import type { ApiCallError } from "../api-client.ts";
import { Loading, Problem } from "../parts/states.tsx";
import { readRange, type ContentSource } from "./content-source.ts";
import { HexView } from "./hex-view.tsx";
import type { PreviewKind } from "./preview-kind.ts";

type MediaKind = Extract<PreviewKind, "image" | "audio" | "video" | "pdf">;

interface MediaViewProps {
  readonly kind: MediaKind;
  readonly objectKey: string;
  readonly source: ContentSource;
}

/** Why the browser does not show the content: `checking` until that is known. */
type Failure = "checking" | "unreadable" | ApiCallError;

export function MediaView({ kind, objectKey, source }: MediaViewProps) {
  const [failure, setFailure] = useState<Failure | null>(null);
  const [round, setRound] = useState(0);
  /** The browser does not say whether the content or the connection is at fault. */
  const explain = (): void => {
    setFailure("checking");
    readRange(source, { start: 0, length: 1 }, new AbortController().signal).then(
      () => setFailure("unreadable"),
      setFailure,
    );
  };
  if (failure === null) {
    return (
      <MediaElement
        key={round}
        kind={kind}
        objectKey={objectKey}
        url={source.url}
        onFailure={explain}
      />
    );
  }
  if (failure === "checking") return <Loading what="the reason why nothing is shown" />;
  if (failure !== "unreadable") {
    return (
      <Problem
        problem={failure}
        onRetry={() => {
          setFailure(null);
          setRound(round + 1);
        }}
      />
    );
  }
  return (
    <>
      <p class="preview-remark warning" role="status">
        {unreadable[kind]} The bytes are shown instead.
      </p>
      <HexView source={source} />
    </>
  );
}

const unreadable: Readonly<Record<MediaKind, string>> = {
  image:
    "The browser cannot show this content as an image: it is damaged, or its content type is wrong.",
  audio: "The browser cannot play this content: it is damaged, or the browser has no codec for it.",
  video: "The browser cannot play this content: it is damaged, or the browser has no codec for it.",
  pdf: "The browser cannot show this content as a PDF document.",
};

interface MediaElementProps {
  readonly kind: MediaKind;
  readonly objectKey: string;
  readonly url: string;
  readonly onFailure: () => void;
}

function MediaElement({ kind, objectKey, url, onFailure }: MediaElementProps) {
  switch (kind) {
    case "image":
      return <ImageView objectKey={objectKey} url={url} onFailure={onFailure} />;
    case "audio":
      return (
        <audio
          class="preview-audio"
          controls
          preload="metadata"
          aria-label={`Sound of ${objectKey}`}
          src={url}
          onError={onFailure}
        />
      );
    case "video":
      return (
        <video
          class="preview-video"
          controls
          preload="metadata"
          aria-label={`Video of ${objectKey}`}
          src={url}
          onError={onFailure}
        />
      );
    case "pdf":
      return <iframe class="preview-pdf" title={`PDF document ${objectKey}`} src={url} />;
  }
}

function ImageView({ objectKey, url, onFailure }: Omit<MediaElementProps, "kind">) {
  const [size, setSize] = useState<{ readonly width: number; readonly height: number } | null>(
    null,
  );
  return (
    <figure class="preview-image">
      <div class="checkerboard">
        <img
          src={url}
          alt={`Image of ${objectKey}`}
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
            setSize({ width: naturalWidth, height: naturalHeight })
          }
          onError={onFailure}
        />
      </div>
      <figcaption>
        {size === null ? "Loading the image…" : `${size.width} × ${size.height} pixels`}
      </figcaption>
    </figure>
  );
}
