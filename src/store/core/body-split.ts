/**
 * Where to cut a small body so that its rows fill SQLite's pages.
 *
 * A page holds whole rows only, and sizes that people use are powers of two: a row with 1024 bytes
 * of content is a few bytes longer than a quarter of a page, so three fit and a quarter of the
 * file is empty. The few bytes that are too many go with the object's own row instead.
 */

/** SQLite's page of 4096 bytes without its header. */
const pageBytes = 4088;
/**
 * What a row takes beside its content: a pointer (2), the length of the payload (2), the rowid
 * (4, up to 2^28), and the record's header (4).
 */
const rowBytes = 12;
/** A longer row begins a chain of pages of its own. */
const rowBytesMax = 4057;
/** Worth cutting off. A longer tail would make the rows of objects long, and listings slow. */
const tailBytesMax = 48;
/** Below that, a page is full enough as it is. */
const rowsMax = 16;

/** How many bytes of a body of `size` to keep in its row: all, or all but a short tail. */
export function splitBody(size: number): number {
  const rows = Math.ceil(pageBytes / (size + rowBytes));
  if (rows > rowsMax) return size;
  const fitting = Math.min(Math.floor(pageBytes / rows) - rowBytes, rowBytesMax);
  return size > fitting && size - fitting <= tailBytesMax ? fitting : size;
}
