/** Comments, tags and settings: the fields of a record beside its DNS data. */
import { problem, type ReportProblem } from "../record/problem.ts";
import type { RecordSettings } from "../record/zone-record.ts";

/** Known limits of the deployed service; the configuration can change those named default. */
export const commentCharactersMaxDefault = 100;
const tagNameCharactersMax = 32;
const tagValueCharactersMax = 100;
export const tagsMaxDefault = 20;

const controlPattern = /\p{Cc}|\p{Zl}|\p{Zp}|\p{Cs}/u;
/** A comma separates tags in a zone file. */
const tagPattern = new RegExp(
  `^[A-Za-z0-9_-]{1,${tagNameCharactersMax}}:(?:[^\\s,](?:[^,]{0,${tagValueCharactersMax - 2}}[^\\s,])?)?$`,
  "u",
);
/** A zone file stores `proxied` and settings as tags with this prefix; requests cannot use it. */
const reservedTag = /^cf-/i;

export function acceptComment(
  input: unknown,
  charactersMax: number,
  report: ReportProblem,
): string | null {
  if (input === undefined || input === null) return null;
  if (typeof input !== "string") {
    report(problem.notAString("comment"));
    return null;
  }
  const comment = input.trim();
  if (Array.from(comment).length > charactersMax) report(problem.commentTooLong(charactersMax));
  else if (controlPattern.test(comment)) report(problem.commentInvalid());
  return comment === "" ? null : comment;
}

export function acceptTags(
  input: unknown,
  tagsMax: number,
  report: ReportProblem,
): readonly string[] {
  if (input === undefined || input === null) return [];
  if (!Array.isArray(input) || !input.every((tag) => typeof tag === "string")) {
    report(problem.notAList("tags", "strings"));
    return [];
  }
  const tags = [...new Set(input.map((tag) => tag.trim()))];
  if (tags.length > tagsMax) report(problem.tagQuota(tags.length, tagsMax));
  for (const tag of tags) {
    if (!tagPattern.test(tag) || controlPattern.test(tag) || reservedTag.test(tag)) {
      report(problem.tagInvalid(tag));
    }
  }
  return tags;
}

const settingNames = ["ipv4_only", "ipv6_only", "flatten_cname"] as const;

/** Settings with the value false are omitted, so that a request with false changes nothing. */
export function acceptSettings(
  input: unknown,
  type: string,
  report: ReportProblem,
): RecordSettings {
  if (input === undefined || input === null) return {};
  if (typeof input !== "object" || Array.isArray(input)) {
    report(problem.notAnObject("settings"));
    return {};
  }
  const given = input as Record<string, unknown>;
  const settings: Record<string, true> = {};
  for (const name of settingNames) {
    const value = given[name] ?? false;
    if (typeof value !== "boolean") report(problem.notABoolean(`settings.${name}`));
    else if (value) settings[name] = true;
  }
  if (settings["flatten_cname"] && type !== "CNAME") {
    report(problem.settingNotForType("flatten_cname", type));
  }
  if (settings["ipv4_only"] && settings["ipv6_only"]) {
    report(problem.exclusive("settings.ipv4_only", "settings.ipv6_only"));
  }
  return settings;
}
