/** The uploads of this tab, at the bottom of every view. The tray collapses to one line. */
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { formatBytes } from "../../../base/format.ts";
import type { ObjectPage } from "../../api/buckets.ts";
import { apiUrl, bucketPath, callApi, readFailure, unreachable } from "../api-client.ts";
import { atMostEvery } from "../frame/events.ts";
import { countedNoun, formatCount, shownKey } from "../frame/format.ts";
import { CheckField } from "../frame/form.tsx";
import { Icon } from "../frame/icon.tsx";
import { Link } from "../frame/navigation.tsx";
import { Button, Progress } from "../frame/parts.tsx";
import { bucketPlace } from "../location.ts";
import { parentFolder } from "./object-rows.ts";
import {
  statusText,
  UploadQueue,
  type Sending,
  type Upload,
  type UploadSummary,
} from "./upload-queue.ts";

/** The queue of this tab. */
export const uploads = new UploadQueue(sendFile);

// The browser asks the person before it closes the tab.
addEventListener("beforeunload", (event) => {
  const { queued, sending, exists } = uploads.summary().counts;
  if (queued + sending + exists > 0) event.preventDefault();
});

/** The queue changes with each packet; a view changes less often. */
const renderMilliseconds = 100;
/** A larger file is not sent before the page knows that its key is free. */
const unaskedBytesMax = 1024 * 1024;

/** By XMLHttpRequest, because `fetch()` does not tell how many bytes have been sent. */
async function sendFile(sending: Sending): Promise<"done" | "exists"> {
  const { bucket, key, file, overwrite, signal, onProgress } = sending;
  if (!overwrite && file.size > unaskedBytesMax && (await hasObject(sending))) return "exists";
  const request = new XMLHttpRequest();
  request.open(
    "PUT",
    apiUrl(bucketPath(bucket, "/content"), { key, overwrite: String(overwrite) }),
  );
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
  if (status !== 0) throw readFailure(status, responseText);
  // A file that the browser cannot read any more fails like a connection that breaks.
  await file
    .slice(0, 1)
    .arrayBuffer()
    .catch(() => {
      throw new Error(
        "The browser cannot read the file: it was changed, moved or deleted after it was chosen. " +
          "Cancel this upload and choose the file again.",
      );
    });
  throw unreachable(undefined);
}

/** By a list, because browsers report a response of 404 as an error of the page. */
async function hasObject({ bucket, key, signal }: Sending): Promise<boolean> {
  const query = { prefix: key, limit: 1 };
  const path = bucketPath(bucket, "/objects");
  const { objects } = await callApi<ObjectPage>(path, { query, signal });
  return objects[0]?.key === key;
}

export function UploadTray() {
  const [summary, setSummary] = useState(() => uploads.summary());
  useEffect(() => {
    const updates = atMostEvery(renderMilliseconds, () => setSummary(uploads.summary()));
    const unsubscribe = uploads.subscribe(() => updates.wish());
    return () => {
      unsubscribe();
      updates.stop();
    };
  }, []);
  return (
    <>
      {/* Changes with what happens, not with each percent. */}
      <p class="visually-hidden" role="status">
        {announcement(summary)}
      </p>
      {summary.files > 0 && <Tray summary={summary} />}
    </>
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
  const isPressed = useRef(false);
  const rowsId = useId();
  // Notices are shown above the tray, whose height changes.
  useEffect(() => {
    const { style } = document.documentElement;
    const observer = new ResizeObserver(() => {
      style.setProperty("--upload-tray-height", `${tray.current?.offsetHeight ?? 0}px`);
    });
    observer.observe(tray.current as HTMLElement);
    return () => {
      observer.disconnect();
      style.removeProperty("--upload-tray-height");
    };
  }, []);
  // The pressed button may be gone: the keyboard would begin at the top of the page again.
  useLayoutEffect(() => {
    if (isPressed.current && document.activeElement === document.body) toggle.current?.focus();
    isPressed.current = false;
  }, [summary]);
  return (
    <section
      ref={tray}
      class="upload-tray"
      aria-label="Uploads of this tab"
      onClick={() => {
        isPressed.current = true;
      }}
    >
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
          {counts.failed > 1 && <Button onClick={() => uploads.retry()}>Retry all</Button>}
          {left > 0 ? (
            <Button onClick={() => uploads.cancel()}>Cancel all</Button>
          ) : (
            <Button
              icon="close"
              tone="quiet"
              label="Close the list of uploads"
              onClick={() => uploads.clear()}
            />
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
  const texts =
    left === 0
      ? [`${countedNoun(counts.done, "file")}, ${formatBytes(bytes)}`]
      : [
          `${formatCount(counts.done)} of ${countedNoun(files, "file")}`,
          `${formatBytes(sentBytes)} of ${formatBytes(bytes)}`,
        ];
  for (const state of ["skipped", "cancelled"] as const) {
    if (counts[state] > 0) texts.push(`${formatCount(counts[state])} ${state}`);
  }
  return texts.join(" · ");
}

function UploadRow({ upload }: { readonly upload: Upload }) {
  const { id, state, key, bucket, size, sentBytes } = upload;
  const row = useRef<HTMLLIElement>(null);
  const [isForAll, setForAll] = useState(false);
  // A row never gets lower, so that the other rows keep their places when its buttons go.
  useLayoutEffect(() => {
    const { style, offsetHeight } = row.current as HTMLLIElement;
    style.minHeight = `${offsetHeight}px`;
  }, [state]);
  // The name of a button has the key, for screen readers.
  const button = (name: string, act: () => void) => (
    <Button label={`${name}: ${key}`} onClick={act}>
      {name}
    </Button>
  );
  return (
    <li ref={row} class="upload-row">
      <div class="upload-text">
        <p class="upload-name">
          {state === "done" ? (
            <Link to={bucketPlace(bucket, parentFolder(key), key)}>
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
        {state === "exists" && (
          <>
            <CheckField label="For all" isChecked={isForAll} onChange={setForAll} />
            {button("Replace", () => uploads.answer(id, "replace", isForAll))}
            {button("Keep both", () => uploads.answer(id, "keep both", isForAll))}
            {button("Skip", () => uploads.answer(id, "skip", isForAll))}
          </>
        )}
        {state === "failed" && button("Retry", () => uploads.retry(id))}
        {["queued", "sending", "failed"].includes(state) &&
          button("Cancel", () => uploads.cancel(id))}
      </div>
    </li>
  );
}
