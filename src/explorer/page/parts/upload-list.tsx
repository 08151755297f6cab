/** The uploads of this tab, at the bottom of every view. */
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { formatBytes } from "../../../base/format.ts";
import { uploads } from "../uploads/page-uploads.ts";
import {
  activeFiles,
  announce,
  countedFiles,
  waitingFiles,
  type UploadSummary,
} from "../uploads/upload-summary.ts";
import { transferText } from "../uploads/upload-text.ts";
import { useUploadSummary } from "../uploads/use-uploads.ts";
import { Dialog } from "./dialog.tsx";
import { UploadRow } from "./upload-row.tsx";
import "../styles/uploads.css";

/** Several changes at once are read out as one. */
const announceMilliseconds = 500;
/** After the next update of the list. */
const focusMilliseconds = 300;

export function UploadList() {
  const summary = useUploadSummary();
  // After the first view, because the browser takes time to open its storage. The frame of the page says
  // why the explorer refuses.
  useEffect(() => void uploads.restore().catch(() => {}), []);
  const isShown = summary.files > 0 || summary.skippedFiles > 0;
  return (
    <>
      <Announcement text={announce(summary)} />
      {isShown && <Panel summary={summary} />}
    </>
  );
}

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

function Panel({ summary }: { readonly summary: UploadSummary }) {
  const [isOpen, setOpen] = useState(true);
  const [isAsking, setAsking] = useState(false);
  const panel = useRef<HTMLElement>(null);
  const toggle = useRef<HTMLButtonElement>(null);
  const rowsId = useId();
  useEffect(() => reserveSpace(panel.current as HTMLElement), []);
  // A person who uses the keyboard would otherwise begin at the top of the page again.
  const keepFocus = (): void => {
    setTimeout(() => {
      if (document.activeElement === document.body) toggle.current?.focus();
    }, focusMilliseconds);
  };
  const { rows, hidden, counts, files, doneFiles, isAway } = summary;
  const isActive = activeFiles(summary) > 0;
  const inQueue = files - doneFiles;
  const act = (action: () => void) => () => {
    action();
    keepFocus();
  };
  return (
    <section ref={panel} class="upload-list" aria-label="Uploads of this tab">
      <header class="upload-header">
        <button
          ref={toggle}
          type="button"
          class="button quiet upload-toggle"
          aria-expanded={isOpen}
          aria-controls={rowsId}
          onClick={() => setOpen(!isOpen)}
        >
          <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span> Uploads
        </button>
        <p class="upload-totals">{totalsText(summary)}</p>
        {!isAway && waitingFiles(summary) > 0 && (
          <span class="badge warning">{waitingFiles(summary)} waiting for you</span>
        )}
        {counts.failed > 0 && <span class="badge bad">{counts.failed} failed</span>}
        <div class="upload-actions">
          {isActive && (
            <button type="button" class="button" onClick={act(() => uploads.pauseAll())}>
              Pause all
            </button>
          )}
          {counts.paused + counts.failed > 0 && (
            <button type="button" class="button" onClick={act(() => uploads.resumeAll())}>
              {counts.paused > 0 ? "Continue all" : "Retry all"}
            </button>
          )}
          {inQueue > 0 ? (
            <button type="button" class="button" onClick={() => setAsking(true)}>
              Cancel all
            </button>
          ) : (
            <button
              type="button"
              class="button quiet"
              aria-label="Close the list of uploads"
              onClick={act(() => uploads.clear())}
            >
              ✕
            </button>
          )}
        </div>
        {inQueue > 0 && (
          <progress
            class="upload-bar total"
            max={Math.max(summary.bytes, 1)}
            value={summary.sentBytes}
            aria-label="All uploads"
          />
        )}
      </header>
      <ul id={rowsId} class="upload-rows" hidden={!isOpen} aria-label="Files">
        {rows.map((item) => (
          <UploadRow key={item.id} item={item} isAway={isAway} onActed={keepFocus} />
        ))}
        {hidden > 0 && <li class="upload-hidden">{hiddenText(summary)}</li>}
      </ul>
      {isAsking && (
        <Dialog title="Cancel all uploads" onClose={() => setAsking(false)}>
          <p>
            {countedFiles(inQueue)} in this list will not be uploaded, and the parts that the store
            has of large files are deleted. Files that are done stay in the bucket.
          </p>
          <div class="dialog-actions">
            <button type="button" class="button" onClick={() => setAsking(false)}>
              Go on uploading
            </button>
            <button
              type="button"
              class="button danger"
              onClick={act(() => {
                setAsking(false);
                void uploads.cancelAll();
              })}
            >
              Cancel all uploads
            </button>
          </div>
        </Dialog>
      )}
    </section>
  );
}

function totalsText(summary: UploadSummary): string {
  const { files, doneFiles, skippedFiles, bytes, isAway } = summary;
  const skipped = skippedFiles > 0 ? ` · ${skippedFiles} skipped` : "";
  if (isAway) return "Waiting for the explorer, which does not answer. Start ledge again.";
  if (files === doneFiles) return `${countedFiles(files)}, ${formatBytes(bytes)}${skipped}`;
  return `${doneFiles.toLocaleString("en")} of ${countedFiles(files)} · ${transferText(summary)}${skipped}`;
}

function hiddenText({ hidden, counts }: UploadSummary): string {
  const others = hidden - counts.queued;
  return others > 0
    ? `and ${countedFiles(hidden)} more: answer, retry or cancel the files above first`
    : `and ${countedFiles(hidden)} more waiting`;
}

/** Notices are shown above the panel, whose height changes. */
function reserveSpace(panel: HTMLElement): () => void {
  const { style } = document.documentElement;
  const observer = new ResizeObserver(() => {
    style.setProperty("--upload-list-height", `${panel.offsetHeight}px`);
  });
  observer.observe(panel);
  return () => {
    observer.disconnect();
    style.removeProperty("--upload-list-height");
  };
}
