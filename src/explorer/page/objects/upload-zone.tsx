/** Where files enter: a list of objects as the target of a drop, and buttons for the keyboard. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useShortcuts } from "../frame/shortcuts.tsx";
import { countedNoun, shownKey } from "../frame/format.ts";
import { useNotices } from "../frame/notices.tsx";
import { Button } from "../frame/parts.tsx";
import { droppedEntries, readEntries, type ChosenFile } from "./upload-files.ts";
import { uploads } from "./upload-tray.tsx";

/** Preact's types do not have the attribute. */
const wholeFolder = { webkitdirectory: true };

interface UploadPlace {
  readonly bucket: string;
  /** The folder that is shown; empty, or with the delimiter at its end. */
  readonly prefix: string;
}

interface UploadZoneProps extends UploadPlace {
  readonly children: ComponentChildren;
}

export function UploadZone({ bucket, prefix, children }: UploadZoneProps) {
  const notices = useNotices();
  const zone = useRef<HTMLDivElement>(null);
  const [isOver, setOver] = useState(false);
  const [isReading, setReading] = useState(false);
  // The browser would open a file that is dropped beside the zone, and leave the page.
  useEffect(() => {
    addEventListener("dragover", refuseDrop);
    addEventListener("drop", refuseDrop);
    return () => {
      removeEventListener("dragover", refuseDrop);
      removeEventListener("drop", refuseDrop);
    };
  }, []);
  const take = async (items: Iterable<DataTransferItem>): Promise<void> => {
    const entries = droppedEntries(items);
    setReading(true);
    const { files, unreadable } = await readEntries(entries);
    setReading(false);
    addFiles({ bucket, prefix }, files);
    if (unreadable.length > 0) {
      notices.show(
        `The browser cannot read ${countedNoun(unreadable.length, "dropped file")}, ` +
          "which will not be uploaded: " +
          `${unreadable.slice(0, 3).join(", ")}${unreadable.length > 3 ? ", …" : ""}. ` +
          "Check that the files exist, and that the browser may read them.",
        { tone: "problem" },
      );
    } else if (files.length === 0) {
      notices.show("There is no file in what was dropped. A bucket has no empty folders.");
    }
  };
  return (
    <div
      ref={zone}
      class="upload-zone"
      onDragEnter={(event) => {
        if (hasFiles(event)) setOver(true);
      }}
      onDragOver={(event) => acceptDrop(event, "copy")}
      onDragLeave={(event) => {
        // The pointer enters a child before it leaves the parent.
        if (!zone.current?.contains(event.relatedTarget as Node | null)) setOver(false);
      }}
      onDrop={(event) => {
        setOver(false);
        acceptDrop(event, "copy");
        if (hasFiles(event)) void take(event.dataTransfer?.items ?? []);
      }}
    >
      {children}
      {(isOver || isReading) && (
        <p class="upload-hint" role="status">
          <span>
            {isReading ? "Reading what was dropped…" : "Drop files and folders to upload them to "}
            {!isReading && <bdi class="code">{`${bucket}/${shownKey(prefix)}`}</bdi>}
          </span>
        </p>
      )}
    </div>
  );
}

export function UploadButtons({ bucket, prefix }: UploadPlace) {
  const notices = useNotices();
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  useShortcuts({ u: { label: "Upload files", act: () => files.current?.click() } });
  const take = ({ currentTarget: input }: { readonly currentTarget: HTMLInputElement }): void => {
    const chosen = Array.from(input.files ?? [], (file) => ({
      path: file.webkitRelativePath || file.name,
      file,
    }));
    addFiles({ bucket, prefix }, chosen);
    if (chosen.length === 0) notices.show("There is no file in the chosen folder.");
    // The same file can be chosen again.
    input.value = "";
  };
  const chooser = { type: "file" as const, hidden: true, onChange: take };
  return (
    <div class="toolbar" role="group" aria-label="Upload">
      <Button icon="upload" tone="primary" onClick={() => files.current?.click()}>
        Upload files
      </Button>
      <Button onClick={() => folder.current?.click()}>Upload a folder</Button>
      <input ref={files} {...chooser} multiple aria-label="Files to upload" />
      <input ref={folder} {...chooser} {...wholeFolder} aria-label="Folder to upload" />
    </div>
  );
}

/** The path of a file is kept as it is: a key may have `..` and spaces. */
function addFiles({ bucket, prefix }: UploadPlace, files: readonly ChosenFile[]): void {
  uploads.add(
    files.map(({ path, file }) => ({ bucket, key: prefix + path.replace(/^\//, ""), file })),
  );
}

function hasFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes("Files") ?? false;
}

function acceptDrop(event: DragEvent, effect: "copy" | "none"): void {
  if (event.dataTransfer === null || !hasFiles(event)) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = effect;
}

function refuseDrop(event: DragEvent): void {
  if (!event.defaultPrevented) acceptDrop(event, "none");
}
