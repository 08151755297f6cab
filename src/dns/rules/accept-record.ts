/**
 * Validates the JSON of a request and turns it into a record draft. These are the checks that need
 * only the request; all of them run, so that a response lists every problem.
 */
import { addressKey, isLoopbackAddress } from "../record/ip-address.ts";
import { checkTextKind, isTextKind } from "../record/mail-policy.ts";
import { problem, type ReportProblem } from "../record/problem.ts";
import { resolveName, type NameRules } from "../record/record-name.ts";
import type { RecordType } from "../record/record-type.ts";
import { recordTypes } from "../record/types.ts";
import { acceptTtl, type RecordDraft, type RecordSettings } from "../record/zone-record.ts";

export interface RecordRules {
  readonly zoneName: string;
  readonly nameRules: NameRules;
  readonly platformAddresses: readonly string[];
  readonly commentCharactersMax: number;
  readonly tagsMax: number;
}

export const recordFields = [
  "type",
  "name",
  "content",
  "data",
  "priority",
  "ttl",
  "proxied",
  "comment",
  "tags",
  "settings",
  "private_routing",
];

export type RecordRequest = Readonly<Record<string, unknown>>;

/** The deployed service's limit for TXT. */
const txtWireBytesMax = 4096;
/** Deviation: other types have a limit of our own, so that a message has room for any record. */
const rdataWireBytesMax = 32_768;

function acceptType(input: unknown, report: ReportProblem): RecordType | undefined {
  if (input === undefined || input === null) {
    report(problem.requiredField("type"));
    return undefined;
  }
  const name = typeof input === "string" ? input.toUpperCase() : "";
  const type = recordTypes.get(isTextKind(name) ? "TXT" : name);
  if (type === undefined) report(problem.typeUnknown(JSON.stringify(input)));
  else if (type.managedBy !== null) report(problem.typeManaged(type.type, type.managedBy));
  else return type;
  return undefined;
}

/** An absent value is false. */
function acceptBoolean(name: string, input: unknown, report: ReportProblem): boolean {
  if (typeof (input ?? false) !== "boolean") report(problem.notABoolean(name));
  return input === true;
}

function acceptProxied(input: unknown, type: RecordType, report: ReportProblem): boolean {
  const proxied = acceptBoolean("proxied", input, report);
  if (proxied && !type.proxiable) report(problem.notProxiable());
  return proxied && type.proxiable;
}

function acceptPrivateRouting(input: unknown, type: RecordType, report: ReportProblem): boolean {
  const isPrivate = acceptBoolean("private_routing", input, report);
  if (isPrivate && !type.proxiable) {
    report(problem.settingNotForType("private_routing", type.type));
  }
  return isPrivate;
}

/** Of the addresses of a configuration: an import compares each of its records with them. */
const platformKeys = new WeakMap<readonly string[], ReadonlySet<string>>();

/**
 * Deviation: private addresses can be proxied, because a local origin has a private address. Loopback addresses are
 * accepted, though the edge has one too: an origin on this machine has another port.
 */
function checkPlatformAddress(draft: RecordDraft, rules: RecordRules, report: ReportProblem): void {
  if (draft.type !== "A" && draft.type !== "AAAA") return;
  const { platformAddresses } = rules;
  const keys =
    platformKeys.get(platformAddresses) ??
    new Set(platformAddresses.filter((each) => !isLoopbackAddress(each)).map(addressKey));
  platformKeys.set(platformAddresses, keys);
  if (!keys.has(addressKey(draft.content))) return;
  const refuse = draft.proxied ? problem.targetNotAllowed : problem.platformAddress;
  report(refuse(draft.content));
}

/** Reports every problem; the draft is valid only when there is no problem. */
export function acceptRecord(
  request: RecordRequest,
  rules: RecordRules,
  report: ReportProblem,
): RecordDraft | undefined {
  const type = acceptType(request["type"], report);
  const legacyName = type?.type === "SRV" ? legacyOwner(request) : undefined;
  const { zoneName, nameRules } = rules;
  const input = legacyName ?? request["name"];
  const name = resolveName({ input, type: type?.type ?? "", zoneName, rules: nameRules }, report);
  const comment = acceptComment(request["comment"], rules.commentCharactersMax, report);
  const tags = acceptTags(request["tags"], rules.tagsMax, report);
  const proxied = type === undefined ? false : acceptProxied(request["proxied"], type, report);
  const ttl = acceptTtl(request["ttl"], proxied, report);
  if (type === undefined) return undefined;
  const settings = acceptSettings(request["settings"], type.type, report);
  const rdata = type.accept(request, name ?? "", report);
  if (name === undefined || rdata === undefined) return undefined;

  const bytesMax = type.type === "TXT" ? txtWireBytesMax : rdataWireBytesMax;
  if (type.write(rdata).length > bytesMax) report(problem.contentTooLong(bytesMax));
  if (type.type === "DS" && name === zoneName) report(problem.dsAtApex());
  const draft: RecordDraft = {
    name,
    type: type.type,
    content: type.content(rdata),
    priority: type.topLevelPriority ? (rdata["priority"] as number) : null,
    ttl,
    proxied,
    comment,
    tags,
    settings,
    privateRouting: acceptPrivateRouting(request["private_routing"], type, report),
  };
  checkPlatformAddress(draft, rules, report);
  // A CNAME to itself has no target, proxied or not.
  if (type.type === "CNAME" && draft.content === name) report(problem.contentInvalid("CNAME"));
  checkTextKind(String(request["type"]).toUpperCase(), draft, report);
  return draft;
}

function label(text: string): string {
  return text.startsWith("_") ? text : `_${text}`;
}

/** The first two labels of an owner name, when both start with an underscore. */
const serviceLabels = /^_[^.]+\._[^.]+(?:\.|$)/;

/**
 * Older clients send the owner name in three parts: data.service, data.proto and data.name. The
 * deployed service ignores the name of such a request; here it counts when data.name is missing.
 */
function legacyOwner(request: Readonly<Record<string, unknown>>): string | undefined {
  const { data, name: given } = request;
  if (typeof data !== "object" || data === null) return undefined;
  const { service, proto, name = given ?? "@" } = data as Record<string, unknown>;
  if (typeof service !== "string" || typeof proto !== "string" || typeof name !== "string") {
    return undefined;
  }
  const prefix = `${label(service)}.${label(proto)}`;
  const base = name.trim().replace(serviceLabels, "");
  return base === "@" || base === "" ? prefix : `${prefix}.${base}`;
}

/** Known limits of the deployed service; the configuration can change those named default. */
export const commentCharactersMaxDefault = 100;
const tagNameCharactersMax = 32;
const tagValueCharactersMax = 100;
export const tagsMaxDefault = 20;

const controlPattern = /\p{Cc}|\p{Zl}|\p{Zp}|\p{Cs}/u;
/** In their order: the first rule that a tag breaks is told. A zone file separates tags by commas. */
const tagRules: readonly (readonly [rule: string, isBroken: RegExp])[] = [
  ["write name:value", /^[^:]*$/],
  ["the name must not be empty", /^:/],
  [
    `the name must have at most ${tagNameCharactersMax} characters`,
    new RegExp(`^[^:]{${tagNameCharactersMax + 1}}`, "u"),
  ],
  ["the name must consist of letters, digits, - and _", /^[^:]*[^:A-Za-z0-9_-]/],
  // A zone file stores `proxied` and settings as tags with this prefix.
  ["names that begin with cf- are reserved", /^cf-/i],
  ["the value must not contain control characters", controlPattern],
  ["the value must not contain commas", /,/],
  ["the value must not begin with a space", /^[^:]*:\s/],
  [
    `the value must have at most ${tagValueCharactersMax} characters`,
    new RegExp(`^[^:]*:[^]{${tagValueCharactersMax + 1}}`, "u"),
  ],
];

function acceptComment(
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

function acceptTags(input: unknown, tagsMax: number, report: ReportProblem): readonly string[] {
  if (input === undefined || input === null) return [];
  if (!Array.isArray(input) || !input.every((tag) => typeof tag === "string")) {
    report(problem.notAList("tags", "strings"));
    return [];
  }
  const tags = [...new Set(input.map((tag) => tag.trim()))];
  if (tags.length > tagsMax) report(problem.tagQuota(tags.length, tagsMax));
  for (const tag of tags) {
    const [broken] = tagRules.find(([, isBroken]) => isBroken.test(tag)) ?? [];
    if (broken !== undefined) report(problem.tagInvalid(tag, broken));
  }
  return tags;
}

const settingNames = ["ipv4_only", "ipv6_only", "flatten_cname"] as const;

/** Settings with the value false are omitted, so that a request with false changes nothing. */
function acceptSettings(input: unknown, type: string, report: ReportProblem): RecordSettings {
  if (input === undefined || input === null) return {};
  if (typeof input !== "object" || Array.isArray(input)) {
    report(problem.notAnObject("settings"));
    return {};
  }
  const given = input as Record<string, unknown>;
  const settings: Record<string, true> = {};
  for (const name of settingNames) {
    if (acceptBoolean(`settings.${name}`, given[name], report)) settings[name] = true;
  }
  if (settings["flatten_cname"] && type !== "CNAME") {
    report(problem.settingNotForType("flatten_cname", type));
  }
  if (settings["ipv4_only"] && settings["ipv6_only"]) {
    report(problem.exclusive("settings.ipv4_only", "settings.ipv6_only"));
  }
  return settings;
}
