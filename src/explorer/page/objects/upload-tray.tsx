/** The uploads of this tab, at the bottom of every view. The tray collapses to one line. */
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { formatBytes } from "../../../base/format.ts";
import type { ObjectPage } from "../../api/buckets.ts";
import {
  ApiCallError,
  apiUrl,
  bucketPath,
  callApi,
  readFailure,
  unreachable,
} from "../api-client.ts";
import type { Place } from "../location.ts";
import { countedNoun, shownKey } from "../frame/format.ts";
import { Icon } from "../frame/icon.tsx";
import { Link } from "../frame/navigation.tsx";
import { Progress } from "../frame/parts.tsx";
import { parentFolder } from "./object-paths.ts";
import { contentTypeOf } from "./upload-files.ts";
import {
  statusText,
  summarize,
  UploadQueue,
  type Sending,
  type Upload,
  type UploadChoice,
  type UploadSummary,
} from "./upload-queue.ts";

/** The queue of this tab. */
export const uploads = new UploadQueue(sendFile);

// The browser asks the person before it closes the tab.
addEventListener("beforeunload", (event) => {
  const { queued, sending, exists } = summarize(uploads.uploads).counts;
  if (queued + sending + exists > 0) event.preventDefault();
});

/** The queue changes with each packet; a view changes less often. */
const renderMilliseconds = 100;
/** Several changes at once are read out as one. */
const announceMilliseconds = 500;
/** A larger file is not sent before the page knows that its key is free. */
const unaskedBytesMax = 1024 * 1024;

/** By XMLHttpRequest, because `fetch()` does not tell how many bytes have been sent. */
async function sendFile(sending: Sending): Promise<"done" | "exists"> {
  const { bucket, key, file, overwrite, signal, onProgress } = sending;
  if (!overwrite && file.size > unaskedBytesMax && (await hasObject(sending))) return "exists";
  const contentType = contentTypeOf(file);
  const request = new XMLHttpRequest();
  request.open(
    "PUT",
    apiUrl(bucketPath(bucket, "/content"), { key, overwrite: String(overwrite) }),
  );
  if (contentType !== undefined) request.setRequestHeader("content-type", contentType);
  request.upload.addEventListener("progress", ({ loaded }) => onProgress(loaded));
  signal.throwIfAborted();
  signal.addEventListener("abort", () => request.abort(), { once: true });
  await new Promise((resolve) => {
    request.addEventListener("loadend", resolve);
    request.send(file);
  });
  const { status, responseText } = request;
  if (status >= 200 && status < 300) return "done";
  if (status === 412 && !overwrite) return "exists";
  if (status === 0) throw await explainSilence(file);
  throw readFailure(status, responseText);
}

/** By a list, because browsers report a response of 404 as an error of the page. */
async function hasObject({ bucket, key, signal }: Sending): Promise<boolean> {
  const query = { prefix: key, limit: 1 };
  const path = bucketPath(bucket, "/objects");
  const { objects } = await callApi<ObjectPage>(path, { query, signal });
  return objects[0]?.key === key;
}

/** A file that the browser cannot read any more fails like a connection that breaks. */
async function explainSilence(file: File): Promise<ApiCallError> {
  try {
    await file.slice(0, 1).arrayBuffer();
    return unreachable(undefined);
  } catch {
    return new ApiCallError(
      0,
      "The browser cannot read the file: it was changed, moved or deleted after it was chosen. " +
        "Cancel this upload and choose the file again.",
    );
  }
}

function useUploadSummary(): UploadSummary {
  const [summary, setSummary] = useState(() => summarize(uploads.uploads));
  useEffect(() => {
    let timer: number | undefined;
    const update = (): void => {
      timer = undefined;
      setSummary(summarize(uploads.uploads));
    };
    const stop = uploads.subscribe(() => {
      timer ??= setTimeout(update, renderMilliseconds);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, []);
  return summary;
}

export function UploadTray() {
  const summary = useUploadSummary();
  return (
    <>
      <Announcement text={announcement(summary)} />
      {summary.files > 0 && <Tray summary={summary} />}
    </>
  );
}

/** For screen readers: changes with what happens, not with each percent. */
function Announcement({ text }: { readonly text: string }) {
  const [spoken, setSpoken] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSpoken(text), announceMilliseconds);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <p class="visually-hidden" role="status">
      {spoken}
    </p>
  );
}

function announcement({ counts, files }: UploadSummary): string {
  if (files === 0) return "";
  const isActive = counts.queued + counts.sending > 0;
  const notes = [
    isActive
      ? `Uploading ${countedNoun(files, "file")}`
      : `${countedNoun(counts.done, "file")} uploaded`,
    counts.exists > 0 && `${countedNoun(counts.exists, "key")} with an object wait for an answer`,
    counts.failed > 0 && `${countedNoun(counts.failed, "file")} failed`,
  ];
  return `${notes.filter((note) => note !== false).join(". ")}.`;
}

function Tray({ summary }: { readonly summary: UploadSummary }) {
  const { rows, counts, files, left, bytes, sentBytes } = summary;
  const [isOpen, setOpen] = useState(true);
  const tray = useRef<HTMLElement>(null);
  const toggle = useRef<HTMLButtonElement>(null);
  const rowsId = useId();
  useEffect(() => reserveSpace(tray.current as HTMLElement), []);
  // The pressed button may be gone: the keyboard would begin at the top of the page again.
  const keepFocus = (): void => {
    setTimeout(() => {
      if (document.activeElement === document.body) toggle.current?.focus();
    }, 3 * renderMilliseconds);
  };
  return (
    <section ref={tray} class="upload-tray" aria-label="Uploads of this tab" onClick={keepFocus}>
      <header class="upload-header">
        <button
          ref={toggle}
          type="button"
          class="button quiet"
          aria-expanded={isOpen}
          aria-controls={rowsId}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? "down" : "right"} />
          Uploads
        </button>
        {left > 0 ? (
          <Progress label="All uploads" value={sentBytes} max={bytes} text={totalsText(summary)} />
        ) : (
          <p class="soft">{totalsText(summary)}</p>
        )}
        {counts.exists > 0 && <span class="badge warning">{counts.exists} waiting for you</span>}
        {counts.failed > 0 && <span class="badge bad">{counts.failed} failed</span>}
        <div class="toolbar">
          {counts.failed > 1 && (
            <button type="button" class="button" onClick={() => uploads.retry()}>
              Retry all
            </button>
          )}
          {left > 0 ? (
            <button type="button" class="button" onClick={() => uploads.cancelAll()}>
              Cancel all
            </button>
          ) : (
            <button
              type="button"
              class="button quiet icon-button"
              aria-label="Close the list of uploads"
              onClick={() => uploads.clear()}
            >
              <Icon name="close" />
            </button>
          )}
        </div>
      </header>
      <ul id={rowsId} class="upload-rows" hidden={!isOpen} aria-label="Files">
        {rows.map((upload) => (
          <UploadRow key={upload.id} upload={upload} />
        ))}
        {files > rows.length && (
          <li class="upload-row soft">and {countedNoun(files - rows.length, "file")} more</li>
        )}
      </ul>
    </section>
  );
}

function totalsText({ counts, files, left, bytes, sentBytes }: UploadSummary): string {
  const skipped = counts.skipped > 0 ? ` · ${counts.skipped} skipped` : "";
  if (left === 0) return `${countedNoun(counts.done, "file")}, ${formatBytes(bytes)}${skipped}`;
  const done = `${counts.done.toLocaleString("en")} of ${countedNoun(files, "file")}`;
  return `${done} · ${formatBytes(sentBytes)} of ${formatBytes(bytes)}${skipped}`;
}

function UploadRow({ upload }: { readonly upload: Upload }) {
  const { id, state, key, bucket, size, sentBytes } = upload;
  return (
    <li class="upload-row">
      <div class="upload-text">
        <p class="upload-name">
          {state === "done" ? (
            <Link to={objectPlace(bucket, key)}>
              <bdi>{shownKey(key)}</bdi>
            </Link>
          ) : (
            <bdi>{shownKey(key)}</bdi>
          )}{" "}
          <span class="soft">
            in <bdi>{bucket}</bdi>
          </span>
        </p>
        {state === "sending" ? (
          <Progress
            label={`Upload of ${key}`}
            value={sentBytes}
            max={size}
            text={statusText(upload)}
          />
        ) : (
          <p class={state === "failed" ? "problem" : "soft"}>{statusText(upload)}</p>
        )}
      </div>
      <div class="toolbar">
        {state === "exists" && <ExistsQuestion upload={upload} />}
        {state === "failed" && (
          <RowButton name="Retry" upload={upload} onClick={() => uploads.retry(id)} />
        )}
        {["queued", "sending", "failed"].includes(state) && (
          <RowButton name="Cancel" upload={upload} onClick={() => uploads.cancel(id)} />
        )}
      </div>
    </li>
  );
}

interface RowButtonProps {
  readonly name: string;
  readonly upload: Upload;
  readonly onClick: () => void;
}

/** The name of the button has the key, for screen readers. */
function RowButton({ name, upload, onClick }: RowButtonProps) {
  return (
    <button type="button" class="button" aria-label={`${name}: ${upload.key}`} onClick={onClick}>
      {name}
    </button>
  );
}

const choices: readonly (readonly [UploadChoice, string])[] = [
  ["replace", "Replace"],
  ["keep both", "Keep both"],
  ["skip", "Skip"],
];

function ExistsQuestion({ upload }: { readonly upload: Upload }) {
  const [isForAll, setForAll] = useState(false);
  return (
    <>
      <label class="check-field">
        <input
          type="checkbox"
          checked={isForAll}
          onChange={(event) => setForAll(event.currentTarget.checked)}
        />
        For all
      </label>
      {choices.map(([choice, name]) => (
        <RowButton
          key={choice}
          name={name}
          upload={upload}
          onClick={() => uploads.answer(upload.id, choice, isForAll)}
        />
      ))}
    </>
  );
}

/** The details of the object, in its folder. */
function objectPlace(bucket: string, key: string): Place {
  return { view: "objects", bucket, prefix: parentFolder(key), after: "", sort: "key", key };
}

/** Notices are shown above the tray, whose height changes. */
function reserveSpace(tray: HTMLElement): () => void {
  const { style } = document.documentElement;
  const observer = new ResizeObserver(() => {
    style.setProperty("--upload-tray-height", `${tray.offsetHeight}px`);
  });
  observer.observe(tray);
  return () => {
    observer.disconnect();
    style.removeProperty("--upload-tray-height");
  };
}
