/**
 * Everything that the commands of `ledge store` load when they run, and that `--help` does not need.
 * The commands share most of it, so one module, and one chunk of the bundle, holds all of it.
 */
export { Progress } from "../../base/progress.ts";
export { isAbandoned } from "../../store/core/blob-name.ts";
export { deleteKeysMax, listLimitMax } from "../../store/core/limits.ts";
export { FileContent } from "../../store/node/file-content.ts";
export { removePartialFiles } from "../../store/node/partial-files.ts";
export { storeRuns } from "../../store/node/store-owner.ts";
export { exportFolder } from "./folder/export-folder.ts";
export { isPlainPath } from "./folder/file-path.ts";
export { checkFolder, countFiles, importFolder } from "./folder/import-folder.ts";
export { reportTransfer } from "./folder/transfer.ts";
export { objectNotFound, parseAddress } from "./object-address.ts";
export { guessMetadata, printObject, saveObject, withInputFile } from "./object-file.ts";
export { toObjectJson } from "./object-json.ts";
export { blobFolder, filesIn, withStore } from "./open-store.ts";
export { findProject } from "./project.ts";
