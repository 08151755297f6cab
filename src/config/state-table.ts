/** `[state]` of the configuration file: what the state of the project starts from. */
import { resolve } from "node:path";
import {
  described,
  optional,
  parseValue,
  tableSchema,
  textSchema,
  type ReportMistake,
  type Table,
} from "../base/schema.ts";

export interface ProjectState {
  /** The folder of the seed; `null` without a seed. */
  readonly seed: string | null;
}

export const stateSchema = described(
  "The state of the project on this machine.",
  tableSchema({
    seed: optional(
      "A folder with objects, zones, SQL and values that an empty state starts from.",
      textSchema((path) => (path === "" ? null : path), 'must be a folder, such as "./seed"'),
    ),
  }),
);

/** @param folder of the configuration file */
export function readState(
  { state: given = {} }: Table,
  folder: string,
  report: ReportMistake,
): ProjectState {
  const { seed } = parseValue(stateSchema, given, ["state"], report) ?? {};
  return { seed: seed === undefined ? null : resolve(folder, seed) };
}
