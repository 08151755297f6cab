/**
 * Why a bucket refused an operation: the key, and what is wrong with it. The message of the error is
 * the platform's and says neither, so the binding gives the reason as the error's `cause`.
 */
import type { StoreErrorCode } from "./errors.ts";
import { utf8Length } from "./key.ts";
import {
  deleteKeysMax,
  keyBytesMax,
  listLimitMax,
  metadataBytesMax,
  partBytesMin,
} from "./limits.ts";

export interface RefusedOperation {
  readonly key?: string;
  readonly keys?: readonly string[];
  readonly uploadId?: string;
  readonly partNumber?: number;
  readonly range?: object;
  readonly limit?: number;
}

const shownCharactersMax = 80;

/** By code. The messages of other errors say everything. */
const reasons: {
  readonly [Code in StoreErrorCode]?: (refused: RefusedOperation) => string | null;
} = {
  10020: ({ key, keys }) => {
    const refused = key ?? keys?.find((each) => keyProblem(each) !== null);
    return refused === undefined ? null : keyProblem(refused);
  },
  10012: ({ key }) =>
    `The metadata${of(key)} has more than ${metadataBytesMax} bytes, with the names.`,
  10022: ({ limit }) => `The limit is ${limit}; it must be from 1 to ${listLimitMax}.`,
  10024: ({ key }) =>
    `The upload${of(key)} was completed or aborted, has expired, or never existed.`,
  10025: ({ key }) => `A part${of(key)} has another etag, or was not uploaded.`,
  10011: ({ key }) => `A part${of(key)} that is not the last has less than ${partBytesMin} bytes.`,
  // Unequal parts have a reason of their own (`multipart.ts`).
  10048: ({ key }) => `The parts${of(key)} are none, or one of them is named twice.`,
  100100: ({ key, partNumber }) =>
    `The ${partNumber === undefined ? "value" : `part ${partNumber}`}${of(key)} is too large.`,
  10027: ({ keys }) => `The call has ${keys?.length ?? 0} keys; 1 to ${deleteKeysMax} are allowed.`,
  10039: ({ key, range }) =>
    `The range ${JSON.stringify(range)} is outside of the object${named(key)}.`,
  10037: ({ key }) => (key === undefined ? null : `The value${of(key)} was not stored.`),
};

/** A sentence, or `null` when the message of the error says everything. */
export function explainRefusal(
  operation: RefusedOperation,
  { code, reason }: { readonly code: StoreErrorCode; readonly reason?: string | undefined },
): string | null {
  return reason ?? reasons[code]?.(operation) ?? null;
}

function keyProblem(key: string): string | null {
  if (key === "") return "The key is empty.";
  const bytes = utf8Length(key);
  if (bytes <= keyBytesMax) return null;
  return `The key${named(key)} has ${bytes} bytes in UTF-8; at most ${keyBytesMax} are allowed.`;
}

const of = (key: string | undefined): string => (key === undefined ? "" : ` of${named(key)}`);

function named(key: string | undefined): string {
  if (key === undefined) return "";
  const shown = key.length > shownCharactersMax ? `${key.slice(0, shownCharactersMax)}...` : key;
  return ` ${JSON.stringify(shown)}`;
}
