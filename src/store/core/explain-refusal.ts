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

/** What is known of an operation without its content. */
export interface RefusedOperation {
  readonly key?: string;
  readonly keys?: readonly string[];
  readonly uploadId?: string;
  readonly partNumber?: number;
  readonly range?: object;
  readonly limit?: number;
}

/** Longer keys are cut. */
const shownCharactersMax = 80;

/** A sentence, or `null` when the message of the error says everything. */
export function explainRefusal(operation: RefusedOperation, code: StoreErrorCode): string | null {
  const { key, keys, partNumber, range, limit } = operation;
  switch (code) {
    case 10020: {
      const refused = key ?? keys?.find((each) => keyProblem(each) !== null);
      return refused === undefined ? null : keyProblem(refused);
    }
    case 10012:
      return `The metadata${of(key)} has more than ${metadataBytesMax} bytes, with the names.`;
    case 10022:
      return `The limit is ${limit}; it must be from 1 to ${listLimitMax}.`;
    case 10024:
      return `The upload${of(key)} was completed or aborted, has expired, or never existed.`;
    case 10025:
      return `A part${of(key)} has another etag, or was not uploaded.`;
    case 10011:
      return `A part${of(key)} that is not the last has less than ${partBytesMin} bytes.`;
    case 10048:
      return `The parts${of(key)} must have ascending numbers and one size; only the last may be smaller.`;
    case 100100:
      return `The ${partNumber === undefined ? "value" : `part ${partNumber}`}${of(key)} is too large.`;
    case 10027:
      return `The call has ${keys?.length ?? 0} keys; 1 to ${deleteKeysMax} are allowed.`;
    case 10039:
      return `The range ${JSON.stringify(range)} is outside of the object${named(key)}.`;
    case 10037:
      return key === undefined ? null : `The value${of(key)} was not stored.`;
    case 10001:
    case 10005:
    case 10006:
    case 10008:
    case 10031:
    case 10058:
    case 200001:
    case 200002:
    case 200003:
    case 200004:
      return null;
  }
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
