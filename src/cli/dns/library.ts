/**
 * Everything that the commands of `ledge dns` load when they run, and that `--help` does not need.
 * The commands share most of it, so one module, and one chunk of the bundle, holds all of it.
 */
export { expandName } from "../../dns/record/record-name.ts";
export { acceptZoneName } from "../../dns/rules/zone.ts";
export { fetchReasons, parseQuestion, resolveServer, timeQuestion } from "./dig-query.ts";
export { digJson, digText } from "./dig-report.ts";
export { withDns } from "./dns-session.ts";
export { findZone, findZoneNamed } from "./find-zone.ts";
export { planFile, planTransfer } from "./import-plan.ts";
export { fileBytesMax, uploadFile, uploadPlan } from "./import-upload.ts";
export { contentMatcher, parseType, storedType } from "./record-content.ts";
export { readRecord } from "./record-fields.ts";
export { recordsText, recordText } from "./record-text.ts";
export { readZoneFile, writeZoneFile } from "./zone-file-access.ts";
export { transferZone } from "./zone-transfer.ts";
