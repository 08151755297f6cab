/** The rows of the table: an operation of each side, how many at once, and the aim. */
import type { SideName } from "./sides.ts";
import type { Message } from "./workload.ts";

export interface Row {
  readonly name: string;
  readonly operation: Readonly<Record<SideName, Message["operation"]>>;
  readonly atOnce: number;
  /** Each operation is a request to the side. Otherwise, one request runs all operations of a turn. */
  readonly isRequestEach?: true;
  /** The most operations of a turn. */
  readonly countMax: number;
  /** The ratio of the times, binding to SDK, that is not to be exceeded. */
  readonly aim?: number;
}

const smallAim = 1.3;
const streamAim = 1.1;
const countMax = 4096;

const smallOperations = {
  head: "head",
  "get 1 KiB": "get",
  "put 1 KiB": "put",
  "put 1 KiB if the entity tag matches": "putIf",
  delete: "delete",
} as const;

const both = (operation: Message["operation"]) => ({ binding: operation, sdk: operation });

export const rows: readonly Row[] = [1, 32].flatMap((atOnce): Row[] => [
  ...Object.entries(smallOperations).map(([name, operation]): Row => ({
    name: `${name}, ${atOnce} at once`,
    operation: both(operation),
    atOnce,
    countMax,
    aim: smallAim,
  })),
  ...Object.entries(smallOperations)
    .filter(([, operation]) => atOnce > 1 && operation !== "putIf" && operation !== "delete")
    .map(([name, operation]): Row => ({
      name: `${name}, ${atOnce} at once, a request each`,
      operation: both(operation),
      atOnce,
      isRequestEach: true,
      countMax,
      aim: smallAim,
    })),
  ...(atOnce === 1
    ? [
        {
          name: "list 1,000",
          operation: both("list"),
          atOnce,
          countMax: 8,
          aim: smallAim,
        },
        {
          name: "list 1,000 with metadata; SDK: list, and head of each, 32 at once",
          operation: both("listAndHead"),
          atOnce,
          countMax: 8,
          aim: smallAim,
        },
      ]
    : []),
  ...(["getStream", "putStream"] as const).map((operation): Row => {
    // 32 streams of 64 MiB at once would measure the disk.
    const streams = Math.min(atOnce, 4);
    return {
      name: `${operation === "getStream" ? "get" : "put"} a stream of 64 MiB, ${streams} at once`,
      operation: both(operation),
      atOnce: streams,
      countMax: streams,
      aim: streamAim,
    };
  }),
]);

/** The operations whose throughput is measured with 1 and with 2 processes of a side. */
export const throughputOperations = {
  head: "head",
  "get 1 KiB": "get",
  "put 1 KiB": "put",
} as const;
