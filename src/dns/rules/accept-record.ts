/**
 * Validates the JSON of a request and turns it into a record draft. These are the checks that need
 * only the request; all of them run, so that a response lists every problem.
 */
import { acceptComment, acceptSettings, acceptTags } from "./annotation.ts";
import { problem, type ReportProblem } from "../record/problem.ts";
import { resolveName, type NameRules } from "../record/record-name.ts";
import { type RecordDraft, acceptTtl } from "../record/zone-record.ts";
import { recordTypes } from "../record/types.ts";
import type { RecordType } from "../record/record-type.ts";
import { addressKey } from "../record/ip-address.ts";
import { checkTextKind, isTextKind } from "../record/mail-policy.ts";

export interface RecordRules {
  readonly zoneName: string;
  readonly nameRules: NameRules;
  readonly platformAddresses: readonly string[];
  readonly commentCharactersMax: number;
  readonly tagsMax: number;
}

/** The fields that a request can set. */
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

/** The JSON object of a request, not validated. */
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

function acceptProxied(input: unknown, type: RecordType, report: ReportProblem): boolean {
  if (input === undefined || input === null) return false;
  if (typeof input !== "boolean") {
    report(problem.notABoolean("proxied"));
    return false;
  }
  if (input && !type.proxiable) report(problem.notProxiable());
  return input && type.proxiable;
}

function acceptPrivateRouting(input: unknown, type: RecordType, report: ReportProblem): boolean {
  if (input === undefined || input === null || input === false) return false;
  if (input !== true) report(problem.notABoolean("private_routing"));
  else if (!type.proxiable) report(problem.settingNotForType("private_routing", type.type));
  return input === true;
}

/** Deviation: private addresses can be proxied, because a local origin has a private address. */
function checkPlatformAddress(draft: RecordDraft, rules: RecordRules, report: ReportProblem): void {
  if (draft.type !== "A" && draft.type !== "AAAA") return;
  const content = addressKey(draft.content);
  if (!rules.platformAddresses.some((address) => addressKey(address) === content)) return;
  report(
    draft.proxied
      ? problem.targetNotAllowed(draft.content)
      : problem.platformAddress(draft.content),
  );
}

/** Reports every problem; the draft is valid only when there is no problem. */
export function acceptRecord(
  request: RecordRequest,
  rules: RecordRules,
  report: ReportProblem,
): RecordDraft | undefined {
  const type = acceptType(request["type"], report);
  const legacyName = type?.type === "SRV" ? legacyOwner(request) : undefined;
  const name = resolveName(
    {
      input: legacyName ?? request["name"],
      type: type?.type ?? "",
      zoneName: rules.zoneName,
      rules: rules.nameRules,
    },
    report,
  );
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
  if (type.type === "DS" && name === rules.zoneName) report(problem.dsAtApex());
  const priority = type.topLevelPriority ? (rdata["priority"] as number) : null;
  const draft: RecordDraft = {
    name,
    type: type.type,
    content: type.content(rdata),
    priority,
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
