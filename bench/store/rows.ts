/** The rows that run in a running runtime, with their targets. */
import type { Task } from "./session.ts";

export interface Row {
  readonly name: string;
  readonly bucket: string;
  readonly task: Task;
  /** How many times faster than R2 the row should be. */
  readonly target?: number;
  readonly quick: boolean;
  /** One request for each operation, instead of one request for a whole turn. */
  readonly requestEach?: boolean;
  /** The row keeps its objects for the next row, which has the same folder. */
  readonly keepsObjects?: boolean;
  readonly countMax?: number;
  /** A turn takes seconds, so the row has fewer rounds. */
  readonly long?: boolean;
  readonly roundsMax?: number;
}

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;
const gibibyte = 1024 * mebibyte;

/** The bucket of all rows except listings and verified reads. */
export const mainBucket = "main";
/** Our binding of this bucket has `verify_reads`. */
export const verifiedBucket = "verified";
/** Our binding of this bucket has `durability = "process"`. */
export const processBucket = "process";

/** Buckets for listings, with the number of their keys. */
export const listedBuckets: Record<string, number> = {
  "10k": 10_000,
  "100k": 100_000,
  "1M": 1_000_000,
};

export function formatSize(bytes: number): string {
  if (bytes >= gibibyte) return `${bytes / gibibyte} GiB`;
  return bytes >= mebibyte ? `${bytes / mebibyte} MiB` : `${bytes / kibibyte} KiB`;
}

type Settings = Partial<Omit<Row, "name" | "task">> & {
  size?: number;
  atOnce?: number;
  folder?: string;
  list?: Task["list"];
};

function row(name: string, operation: string, settings: Settings = {}): Row {
  const { size = kibibyte, atOnce = 1, folder = name, list, ...others } = settings;
  const task = { operation, folder, size, atOnce, ...(list && { list }) };
  return { bucket: mainBucket, quick: false, ...others, name, task };
}

interface PairSettings extends Settings {
  targets?: number[];
  /** Whether a quick run includes both rows. */
  quickAtOnce?: boolean;
}

/** Two rows: one operation at a time, and 32 at once. */
function pair(name: string, operation: string, settings: PairSettings = {}) {
  const { targets = [], quickAtOnce = true, quick = false, ...others } = settings;
  return [1, 32].map((atOnce, index) =>
    row(atOnce === 1 ? name : `${name}, 32 at once`, operation, {
      ...others,
      atOnce,
      quick: quick && (atOnce === 1 || quickAtOnce),
      keepsObjects: others.folder !== undefined && atOnce === 1,
      ...(targets[index] !== undefined && { target: targets[index] }),
    }),
  );
}

const putTargets: Record<number, number[]> = {
  [kibibyte]: [5, 12],
  [64 * kibibyte]: [3.5, 5],
  // R2 syncs no file.
  [mebibyte]: [3, 5],
};
const getTargets: Record<number, number[]> = {
  [kibibyte]: [8, 18],
  [64 * kibibyte]: [6, 6],
  [mebibyte]: [2, 2],
};

const sizes = [1, 16, 64, 128, 256, 1024, 8192].map((kibibytes) => kibibytes * kibibyte);

const values = sizes.flatMap((size) => {
  const settings = {
    size,
    quick: size in putTargets,
    quickAtOnce: size < mebibyte,
    long: size > mebibyte,
  };
  return [
    ...pair(`put ${formatSize(size)}`, "put", { ...settings, targets: putTargets[size] ?? [] }),
    ...pair(`get ${formatSize(size)}`, "get", { ...settings, targets: getTargets[size] ?? [] }),
  ];
});

const small = [
  ...pair("head", "head", { targets: [4.5, 12], quick: true }),
  ...pair("conditional put that passes", "putIfMatching", { quick: true, quickAtOnce: false }),
  ...pair("conditional put that fails", "putIfDiffering"),
  ...pair("delete", "delete", { countMax: 512, quick: true, quickAtOnce: false }),
  row("delete 1000", "delete1000", { countMax: 1, long: true, target: 10, quick: true }),
];

const requests = [
  ["put 1 KiB", "put"],
  ["get 1 KiB", "get"],
  ["head", "head"],
].flatMap(([name, operation]) =>
  pair(`${name}, a request each`, operation as string, {
    requestEach: true,
    quick: name !== "head",
    quickAtOnce: false,
  }),
);

const streams = [32 * mebibyte, 256 * mebibyte, gibibyte].flatMap((size) => {
  const middle = size === 256 * mebibyte;
  const name = formatSize(size);
  // All rows of a size read the object of the first row, because R2 needs very long to store it.
  // A gibibyte takes so long that these rows have one round.
  const settings = { size, folder: `stream ${name}`, countMax: 1 };
  const rounds = { long: size > 32 * mebibyte, ...(size === gibibyte && { roundsMax: 1 }) };
  const common = { ...settings, ...rounds, quick: middle };
  const put = { ...common, keepsObjects: true, ...(middle && { target: 4.5 }) };
  const get = { ...common, keepsObjects: middle };
  return [
    row(`stream put ${name}`, "streamPut", put),
    row(`stream get ${name}`, "streamGet", { ...get, ...(middle && { target: 1.8 }) }),
    ...(middle
      ? [
          row(`stream get ${name}, 64 KiB a read`, "streamGetSmallReads", get),
          ...pair(`get 64 KiB deep in ${name}`, "rangedGet", {
            ...settings,
            countMax: 512,
            quick: true,
            quickAtOnce: false,
          }),
        ]
      : []),
  ];
});

const parts = row("multipart 8 × 5 MiB and get", "multipart", {
  size: 5 * mebibyte,
  countMax: 1,
  long: true,
  target: 5,
  quick: true,
});

/** The cost of `verify_reads`: the other sides verify nothing, as in the rows without it. */
const verified = [
  row("get 1 MiB, verify_reads", "get", {
    size: mebibyte,
    bucket: verifiedBucket,
    quick: true,
  }),
];

/** Without the cost of `durability = "power"`: the other sides sync no file, as in the rows with it. */
const processDurable = [256 * kibibyte, mebibyte].flatMap((size) =>
  pair(`put ${formatSize(size)}, durability process`, "put", {
    size,
    bucket: processBucket,
    quick: size === mebibyte,
    quickAtOnce: false,
    targets: size === mebibyte ? [5.5, 5] : [],
  }),
);

const inFolder = { prefix: "folder-042/", limit: 100 };

const listings = Object.keys(listedBuckets).flatMap((bucket) => {
  const million = bucket === "1M";
  const settings = { bucket, size: 0, quick: million };
  return [
    row(`list 1000, ${bucket} keys`, "list", {
      ...settings,
      // The quick run compares 10k with 1M keys.
      quick: bucket !== "100k",
      target: 8,
    }),
    row(`list a prefix, ${bucket} keys`, "list", {
      ...settings,
      list: inFolder,
      ...(million && { target: 100 }),
    }),
    row(`list with a delimiter, ${bucket} keys`, "list", {
      ...settings,
      list: { delimiter: "/", limit: 100 },
      long: million,
      ...(million && { target: 250 }),
    }),
    row(`list with metadata, ${bucket} keys`, "list", {
      ...settings,
      list: { ...inFolder, include: ["httpMetadata", "customMetadata"] },
    }),
  ];
});

export const mainRows: readonly Row[] = [
  ...values,
  ...small,
  ...requests,
  ...streams,
  parts,
  ...processDurable,
  ...verified,
];
export const listRows: readonly Row[] = listings;
