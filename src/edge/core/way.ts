/**
 * The way of a request by name, for the live view and for `--log-requests`. The edge worker writes it as a line on
 * the console, as the tail worker of scripts does (`dev/plugin/tail-plugins.ts`): a mark, and JSON.
 */

export interface EdgeWay {
  readonly method: string;
  /** As the client has asked for it, without the port and ".localhost": `http://photos.example.com/cat.jpg`. */
  readonly url: string;
  /** The name of the URL. */
  readonly name: string;
  /** `A app.example.com 127.0.0.1`; `null` if no record was asked for. */
  readonly record: string | null;
  /** The pattern. */
  readonly route: string | null;
  /** `script photos`, `bucket cdn`, `origin 127.0.0.1:3000`, or the title of a page. */
  readonly to: string;
  readonly status: number;
  /** When it began: milliseconds since the epoch. */
  readonly at: number;
  /** Until the response began. */
  readonly milliseconds: number;
}

/** No line of a script begins with it by chance. */
export const wayMark = "\u0001ledge:way ";

/** @returns `null` for any other line of the console */
export function readWay(line: string): EdgeWay | null {
  return line.startsWith(wayMark) ? (JSON.parse(line.slice(wayMark.length)) as EdgeWay) : null;
}

/** `GET http://photos.example.com/cat.jpg → photos.example.com/* → script photos  200 (3 ms)` */
export function renderWay(way: EdgeWay): string {
  const steps = [way.record, way.route, way.to].filter((step) => step !== null);
  return `${way.method} ${[way.url, ...steps].join(" → ")}  ${way.status} (${way.milliseconds} ms)`;
}
