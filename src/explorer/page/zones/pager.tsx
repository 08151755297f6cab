/** Which page of a list is shown, and the way to the others. */
const numbers = new Intl.NumberFormat("en");

export function formatCount(count: number): string {
  return numbers.format(count);
}

interface PagerProps {
  /** What is listed: "records". */
  readonly label: string;
  readonly page: number;
  readonly pages: number;
  readonly perPage: number;
  readonly total: number;
  readonly onPage: (page: number) => void;
}

export function Pager({ label, page, pages, perPage, total, onPage }: PagerProps) {
  const first = (page - 1) * perPage + 1;
  const last = Math.min(page * perPage, total);
  const step = (text: string, name: string, target: number) => (
    <button
      type="button"
      class="button"
      aria-label={name}
      disabled={target < 1 || target > pages || target === page}
      onClick={() => onPage(target)}
    >
      {text}
    </button>
  );
  return (
    <nav class="toolbar zones-pager" aria-label={`Pages of ${label}`}>
      <p role="status">
        {total === 0
          ? `No ${label}`
          : `${formatCount(first)}–${formatCount(last)} of ${formatCount(total)} ${label}`}
      </p>
      {pages > 1 && (
        <>
          <span class="grow" />
          {step("«", "First page", 1)}
          {step("‹", "Previous page", page - 1)}
          <span>
            Page {formatCount(page)} of {formatCount(pages)}
          </span>
          {step("›", "Next page", page + 1)}
          {step("»", "Last page", pages)}
        </>
      )}
    </nav>
  );
}
