/** The stored bytes of an object, a page of 4 KiB at a time. */
import { useId, useState } from "preact/hooks";
import { Loading, Problem } from "../parts/states.tsx";
import { useFetched } from "../state/use-fetched.ts";
import { readRange, type ContentSource } from "./content-source.ts";
import { hexPageBytes, hexPageStart, hexRows, offsetText, parseOffset } from "./hex-rows.ts";

export function HexView({ source }: { readonly source: ContentSource }) {
  const { size, etag, url } = source;
  const [offset, setOffset] = useState(0);
  const start = hexPageStart(offset);
  const page = useFetched(
    (signal) => readRange(source, { start, length: hexPageBytes }, signal),
    `${url} ${etag} ${start}`,
  );
  const lastStart = hexPageStart(size - 1);
  const end = Math.min(start + hexPageBytes, size);
  return (
    <div class="preview-hex">
      <div class="toolbar">
        <PageButton label="First bytes" sign="⇤" isEnd={start === 0} onMove={() => setOffset(0)} />
        <PageButton
          label="Previous bytes"
          sign="←"
          isEnd={start === 0}
          onMove={() => setOffset(start - hexPageBytes)}
        />
        <PageButton
          label="Next bytes"
          sign="→"
          isEnd={start === lastStart}
          onMove={() => setOffset(start + hexPageBytes)}
        />
        <PageButton
          label="Last bytes"
          sign="⇥"
          isEnd={start === lastStart}
          onMove={() => setOffset(lastStart)}
        />
        <OffsetForm size={size} onJump={setOffset} />
        <p class="hex-extent" role="status">
          Bytes {start.toLocaleString("en")} to {(end - 1).toLocaleString("en")} of{" "}
          {size.toLocaleString("en")}
        </p>
      </div>
      {page.problem !== undefined && <Problem problem={page.problem} onRetry={page.reload} />}
      {page.data === undefined && page.problem === undefined && <Loading what="the bytes" />}
      {page.data !== undefined && page.problem === undefined && (
        <HexTable bytes={page.data} start={start} offset={offset} />
      )}
    </div>
  );
}

interface PageButtonProps {
  readonly label: string;
  readonly sign: string;
  readonly isEnd: boolean;
  readonly onMove: () => void;
}

/** Not disabled at the end, because a disabled button would lose the focus. */
function PageButton({ label, sign, isEnd, onMove }: PageButtonProps) {
  return (
    <button
      type="button"
      class="button"
      aria-label={label}
      title={label}
      aria-disabled={isEnd}
      onClick={() => {
        if (!isEnd) onMove();
      }}
    >
      {sign}
    </button>
  );
}

interface OffsetFormProps {
  readonly size: number;
  readonly onJump: (offset: number) => void;
}

function OffsetForm({ size, onJump }: OffsetFormProps) {
  const [text, setText] = useState("");
  const [isWrong, setWrong] = useState(false);
  const problemId = useId();
  const inputId = useId();
  return (
    <form
      class="hex-offset"
      onSubmit={(event) => {
        event.preventDefault();
        const offset = parseOffset(text, size);
        setWrong(offset === null);
        if (offset !== null) onJump(offset);
      }}
    >
      <label class="visually-hidden" for={inputId}>
        Offset
      </label>
      <input
        id={inputId}
        class="input code"
        placeholder="Offset, 0x10"
        value={text}
        aria-invalid={isWrong}
        {...(isWrong && { "aria-describedby": problemId })}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="button">
        Go
      </button>
      {isWrong && (
        <p id={problemId} class="field-problem" role="alert">
          Write an offset from 0 to {(size - 1).toLocaleString("en")}, or a hexadecimal offset with
          0x.
        </p>
      )}
    </form>
  );
}

interface HexTableProps {
  readonly bytes: Uint8Array;
  readonly start: number;
  /** The row with this offset is marked. */
  readonly offset: number;
}

function HexTable({ bytes, start, offset }: HexTableProps) {
  const marked = offset === start ? null : offsetText(offset - (offset % 16));
  return (
    <div class="hex-scroller" role="region" aria-label="Bytes of the object" tabIndex={0}>
      <table class="hex-table code">
        <thead class="visually-hidden">
          <tr>
            <th scope="col">Offset</th>
            <th scope="col">Bytes</th>
            <th scope="col">Text</th>
          </tr>
        </thead>
        <tbody>
          {hexRows(bytes, start).map((row) => (
            <tr
              key={row.offset}
              {...(row.offset === marked && {
                class: "marked",
                ref: (element: HTMLTableRowElement | null) =>
                  element?.scrollIntoView({ block: "nearest" }),
              })}
            >
              <th scope="row">{row.offset}</th>
              <td>{row.bytes}</td>
              <td>{row.text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
