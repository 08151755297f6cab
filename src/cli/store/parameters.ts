/** Arguments and options that several commands of `ledge store` share. */
import type { StorageClass } from "../../store/core/operations.ts";
import type { Argument, Invocation, Option } from "../command.ts";
import { choiceOption } from "../options.ts";

export const bucketArgument: Argument = {
  name: "BUCKET",
  summary: "The name of a bucket or of its binding",
};
export const objectArgument: Argument = { name: "BUCKET/KEY", summary: "The object" };
export const folderArgument: Argument = { name: "DIR", summary: "The folder" };

export const dryRunOption: Option = {
  summary: "Prints how much would be deleted, and deletes nothing",
};
const storageClasses = ["Standard", "InfrequentAccess"] as const satisfies StorageClass[];
export const storageClassOption: Option = {
  summary: "Standard or InfrequentAccess",
  choices: storageClasses,
  value: "CLASS",
  default: "the bucket's",
};

export function readStorageClass(invocation: Invocation): StorageClass | undefined {
  return choiceOption(invocation, "storage-class", storageClasses);
}
