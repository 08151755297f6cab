/**
 * How much of a small body its row keeps, so that rows fill SQLite's pages.
 *
 * A page holds only whole rows, and common body sizes are powers of two. A row with 1024 bytes of
 * content is a few bytes longer than a quarter of a page: three rows fit, and a quarter of the
 * file stays empty. So the last few bytes of such a body go into the object's own row.
 */

/** SQLite's page of 4096 bytes, less its header. */
const pageBytes = 4088;
/**
 * The overhead of a row: a cell pointer (2), the payload length (2), the rowid (4, up to 2^28), and
 * the record header (4).
 */
const rowOverheadBytes = 12;
/** A longer row continues on overflow pages. */
const rowBytesMax = 4057;
/** A longer tail would make the rows of objects long, and listings slow. */
const tailBytesMax = 48;
/** Pages with more rows than this waste too little to be worth a cut. */
const rowsPerPageMax = 16;

/** How many bytes of a body of `size` bytes its row keeps: all, or all but a short tail. */
export function fitBodyToPage(size: number): number {
  const rows = Math.ceil(pageBytes / (size + rowOverheadBytes));
  if (rows > rowsPerPageMax) return size;
  const fitting = Math.min(Math.floor(pageBytes / rows) - rowOverheadBytes, rowBytesMax);
  return size > fitting && size - fitting <= tailBytesMax ? fitting : size;
}
