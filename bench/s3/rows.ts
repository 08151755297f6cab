/** The rows of the table: an operation, how many at once, and the aims. */
import {
  get,
  head,
  list,
  listedKeys,
  mebibyte,
  multipart,
  put,
  type Operation,
} from "./operations.ts";

export interface S3Row {
  readonly name: string;
  readonly operation: Operation;
  readonly atOnce: number;
  /** The most operations of a turn: of large objects, as many as the disk holds. */
  readonly countMax: number;
  /** Whether the row has a second time of ours, with `durability = "process"`. */
  readonly comparesDurability?: boolean;
  /** How many times as fast as Miniflare. */
  readonly miniflareAim?: number;
  /** How many times the time of the bare server. */
  readonly bareAim?: number;
}

const sizes = { "1 KiB": 1024, "1 MiB": mebibyte, "64 MiB": 64 * mebibyte };
/** The aims of small requests and of large ones: a bare server, too, gets a stream 1 to 2 times as fast as Miniflare. */
const [smallAim, uploadAim, downloadAim] = [2, 4, 1];
const turnBytesMax = 256 * mebibyte;

export function s3Rows({ isQuick }: { readonly isQuick: boolean }): S3Row[] {
  return [1, 32].flatMap((atOnce) => [
    ...Object.entries(sizes).flatMap(([text, size]) => {
      // 32 objects of 64 MiB are a full row of the disk, and of minutes.
      if (isQuick && size * atOnce > turnBytesMax) return [];
      const countMax = Math.max(atOnce, Math.floor(turnBytesMax / size));
      const limits = { atOnce, countMax };
      const isStream = size > mebibyte;
      const row = (name: string, operation: Operation, bareAim?: number): S3Row => ({
        name: `${name} ${text}, ${atOnce} at once`,
        operation,
        ...limits,
        miniflareAim: isStream ? (name === "get" ? downloadAim : uploadAim) : smallAim,
        ...(bareAim !== undefined && { bareAim }),
      });
      return [
        { ...row("put", put(size, "unsigned")), comparesDurability: size >= mebibyte },
        row("put with SHA-256", put(size, "signed")),
        row("get", get(size), size === mebibyte ? 2 : undefined),
        row("multipart", multipart(size)),
      ];
    }),
    small("head", head(), atOnce),
    small("list 10 keys", list(10), atOnce),
    small(`list ${listedKeys} keys`, list(listedKeys), atOnce),
  ]);
}

function small(name: string, operation: Operation, atOnce: number): S3Row {
  return {
    name: `${name}, ${atOnce} at once`,
    operation,
    atOnce,
    countMax: 4096,
    miniflareAim: smallAim,
  };
}
