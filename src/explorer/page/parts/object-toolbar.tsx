/** What can be done in a folder, or with the selected rows. */
import type { ComponentChildren } from "preact";
import { formatBytes } from "../../../base/format.ts";
import { apiUrl, bucketPath } from "../api-client.ts";
import type { ObjectRow } from "../objects/object-rows.ts";
import { countedNoun } from "../frame/format.ts";
import { Link } from "./link.tsx";
import { UploadButtons } from "../objects/upload-zone.tsx";

export interface SelectionActions {
  readonly onCopy: () => void;
  readonly onMove: () => void;
  readonly onRename: () => void;
  readonly onDelete: () => void;
  readonly onClear: () => void;
}

interface ObjectToolbarProps extends SelectionActions {
  readonly bucket: string;
  readonly folder: string;
  readonly selected: readonly ObjectRow[];
  /** The search field. */
  readonly children: ComponentChildren;
}

export function ObjectToolbar(props: ObjectToolbarProps) {
  const { bucket, folder, selected, children } = props;
  const hasSelection = selected.length > 0;
  return (
    <div class="toolbar object-toolbar" role="group" aria-label="Actions">
      {children}
      <div class="toolbar" hidden={hasSelection}>
        <UploadButtons bucket={bucket} prefix={folder} />
        <a
          class="button"
          href={archiveUrl(bucket, folder)}
          download
          title="Download all objects below this folder as a zip file"
        >
          Download as zip
        </a>
        <Link class="button" to={{ view: "uploads", bucket }}>
          Uploads in progress
        </Link>
      </div>
      {hasSelection && <SelectionBar {...props} />}
    </div>
  );
}

function SelectionBar(props: ObjectToolbarProps) {
  const { bucket, selected, onCopy, onMove, onRename, onDelete, onClear } = props;
  const [only] = selected.length === 1 ? selected : [];
  return (
    <div class="toolbar selection-bar">
      <p class="selection-count" role="status">
        {countedNoun(selected.length, "row")} selected{sizeText(selected)}
      </p>
      {only !== undefined && (
        <a class="button" href={downloadUrl(bucket, only)} download>
          {only.kind === "folder" ? "Download as zip" : "Download"}
        </a>
      )}
      <button type="button" class="button" onClick={onCopy} aria-keyshortcuts="c">
        Copy…
      </button>
      <button type="button" class="button" onClick={onMove} aria-keyshortcuts="m">
        Move…
      </button>
      {only?.kind === "object" && (
        <button type="button" class="button" onClick={onRename} aria-keyshortcuts="r">
          Rename…
        </button>
      )}
      <button type="button" class="button danger" onClick={onDelete} aria-keyshortcuts="Delete">
        Delete
      </button>
      <button type="button" class="button quiet" onClick={onClear} aria-keyshortcuts="Escape">
        Clear
      </button>
    </div>
  );
}

/** The size of folders is not known. */
function sizeText(rows: readonly ObjectRow[]): string {
  let bytes = 0;
  for (const row of rows) {
    if (row.kind === "folder") return "";
    bytes += row.object.size;
  }
  return `, ${formatBytes(bytes)}`;
}

function downloadUrl(bucket: string, row: ObjectRow): string {
  if (row.kind === "folder") return archiveUrl(bucket, row.path);
  return apiUrl(bucketPath(bucket, "/content"), { key: row.path, download: 1 });
}

function archiveUrl(bucket: string, prefix: string): string {
  return apiUrl(bucketPath(bucket, "/archive"), { prefix });
}
