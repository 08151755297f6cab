/** A file in the upload list: how far it is, and what a person can do. */
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Place } from "../location.ts";
import { folderOf } from "../uploads/dropped-key.ts";
import { uploads } from "../uploads/page-uploads.ts";
import type { Choice, UploadItem } from "../uploads/upload-item.ts";
import { statusText } from "../uploads/upload-text.ts";
import { Link } from "./link.tsx";

interface UploadRowProps {
  readonly item: UploadItem;
  readonly isAway: boolean;
  /** Called after an action that may remove the focused button. */
  readonly onActed: () => void;
}

export function UploadRow({ item, isAway, onActed }: UploadRowProps) {
  const { id, state, size, sentBytes, key, bucket } = item;
  const bytesPerSecond = item.rate.bytesPerSecond(performance.now());
  const act = (action: () => void) => () => {
    action();
    onActed();
  };
  const cancel = act(() => void uploads.cancel(id));
  const hasBar = state === "uploading" || state === "paused" || state === "without file";
  const isProblem = state === "failed" || state === "differs" || state === "gone";
  return (
    <li class={`upload-row ${state.replace(" ", "-")}`}>
      <div class="upload-text">
        <p class="upload-name">
          {state === "done" ? (
            <Link to={objectPlace(bucket, key)}>
              <bdi>{key}</bdi>
            </Link>
          ) : (
            <bdi>{key}</bdi>
          )}{" "}
          <span class="upload-bucket">
            in <bdi>{bucket}</bdi>
          </span>
        </p>
        <p class={isProblem ? "upload-status problem" : "upload-status"}>
          {statusText(item, { isAway, bytesPerSecond })}
        </p>
        {hasBar && (
          <progress
            class="upload-bar"
            max={Math.max(size, 1)}
            value={sentBytes}
            aria-label={`Upload of ${key}`}
          />
        )}
      </div>
      <div class="upload-actions">
        {(state === "queued" || state === "uploading") && (
          <RowButton name="Pause" item={item} onClick={act(() => uploads.pause(id))} />
        )}
        {state === "paused" && (
          <RowButton name="Continue" item={item} onClick={act(() => uploads.resume(id))} />
        )}
        {state === "failed" && (
          <RowButton name="Retry" item={item} onClick={act(() => uploads.resume(id))} />
        )}
        {state === "exists" && <ExistsQuestion item={item} onActed={onActed} />}
        {(state === "without file" || state === "differs" || state === "gone") && (
          <ChooseFile item={item} onActed={onActed} />
        )}
        {state === "differs" && (
          <RowButton
            name="Start again"
            item={item}
            onClick={act(() => void uploads.startAgain(id))}
          />
        )}
        {!["exists", "cancelling", "done"].includes(state) && (
          <RowButton name={state === "gone" ? "Dismiss" : "Cancel"} item={item} onClick={cancel} />
        )}
      </div>
    </li>
  );
}

/** The name of the button has the key, for screen readers. */
function RowButton({
  name,
  item,
  onClick,
  children,
}: {
  readonly name: string;
  readonly item: UploadItem;
  readonly onClick: () => void;
  readonly children?: ComponentChildren;
}) {
  return (
    <button type="button" class="button" aria-label={`${name}: ${item.key}`} onClick={onClick}>
      {children ?? name}
    </button>
  );
}

const choices: readonly { readonly choice: Choice; readonly name: string }[] = [
  { choice: "replace", name: "Replace" },
  { choice: "keep both", name: "Keep both" },
  { choice: "skip", name: "Skip" },
];

function ExistsQuestion({ item, onActed }: Pick<UploadRowProps, "item" | "onActed">) {
  const [isForAll, setForAll] = useState(false);
  return (
    <>
      <label class="upload-for-all">
        <input
          type="checkbox"
          checked={isForAll}
          onChange={(event) => setForAll(event.currentTarget.checked)}
        />
        For all
      </label>
      {choices.map(({ choice, name }) => (
        <RowButton
          key={choice}
          name={name}
          item={item}
          onClick={() => {
            uploads.answer(item.id, choice, isForAll);
            onActed();
          }}
        />
      ))}
    </>
  );
}

function ChooseFile({ item, onActed }: Pick<UploadRowProps, "item" | "onActed">) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <RowButton name="Choose the file" item={item} onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        hidden
        aria-label={`File of ${item.key}`}
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          event.currentTarget.value = "";
          if (file === undefined) return;
          uploads.choose(item.id, file);
          onActed();
        }}
      />
    </>
  );
}

/** The details of the object, in its folder. */
function objectPlace(bucket: string, key: string): Place {
  return { view: "objects", bucket, prefix: folderOf(key), after: "", sort: "key", key };
}
