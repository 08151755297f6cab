/**
 * The settings of a bucket that requests put: CORS rules and lifecycle rules.
 *
 * A request is not refused because of CORS rules (`store/core/cors.ts`): its signature authorises it.
 *
 * The bucket follows the lifecycle rules, by the store's clock: uploads are aborted, objects are deleted
 * (`Expiration`) or moved to STANDARD_IA (`Transition`). A bucket has the deployed service's rule for uploads
 * from the start. A rule for tags concerns nothing, because objects have none.
 *
 * Deviation: responses have no `x-amz-expiration`.
 */
import {
  childrenOf,
  childText,
  writeXml,
  type XmlElement,
  type XmlElements,
} from "../../http/xml.ts";
import { corsRules, preflightHeaders, preflightOf, type CorsRule } from "../../store/core/cors.ts";
import { dayMilliseconds, type ObjectRule } from "../../store/core/lifecycle.ts";
import type { AbortRule } from "../../store/core/multipart.ts";
import type { StoredSettings } from "../../store/core/operations.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { S3Error } from "../s3-errors.ts";
import {
  parseDocument,
  xmlHeaders,
  xmlResponse,
  type S3Request,
  type BucketVerbFunction,
  type S3Response,
  type S3Service,
} from "../s3-message.ts";

/** The rules that a request has put, or else those of the configuration. */
export async function readCorsRules(
  bucket: Bucket,
  { settingsOf }: S3Service,
): Promise<readonly CorsRule[]> {
  return corsRules(await bucket.call({ method: "getSettings" }), settingsOf(bucket.name)?.cors);
}

export const bucketRuleVerbs = {
  async GetBucketCors(_request, bucket, service) {
    const rules = await readCorsRules(bucket, service);
    if (rules.length === 0) throw new S3Error("NoSuchCORSConfiguration");
    return xmlResponse("CORSConfiguration", corsElements(rules));
  },

  async PutBucketCors({ body }, bucket) {
    const rules = parseCorsDocument(await body.document());
    await bucket.call({ method: "putSettings", cors: JSON.stringify(rules) });
    return { status: 200 };
  },

  async DeleteBucketCors(_request, bucket, { settingsOf }) {
    // An empty list, so that the rules of the configuration do not come back.
    const isConfigured = (settingsOf(bucket.name)?.cors ?? []).length > 0;
    await bucket.call({ method: "putSettings", cors: isConfigured ? "[]" : null });
    return { status: 204 };
  },

  async GetBucketLifecycle(_request, bucket, { settingsOf }) {
    const { lifecycle } = await bucket.call({ method: "getSettings" });
    // The rules of a remote bucket are not known here.
    const isRemote = settingsOf(bucket.name)?.remote !== undefined;
    const { text } = lifecycle ?? (isRemote ? noLifecycle : defaultLifecycle);
    if (text === "") throw new S3Error("NoSuchLifecycleConfiguration");
    return { status: 200, headers: xmlHeaders, body: text };
  },

  async PutBucketLifecycle({ body }, bucket) {
    const lifecycle = parseLifecycleDocument(await body.document());
    await bucket.call({ method: "putSettings", lifecycle });
    return { status: 200 };
  },

  async DeleteBucketLifecycle(_request, bucket) {
    // Rules that are empty, so that the rule of the start does not come back.
    await bucket.call({ method: "putSettings", lifecycle: noLifecycle });
    return { status: 204 };
  },
} satisfies Record<string, BucketVerbFunction>;

/** AWS's limit. */
const corsRulesMax = 100;
const corsMethods = new Set(["GET", "PUT", "POST", "DELETE", "HEAD"]);

/** @throws S3Error MalformedXML, and InvalidRequest for a method that no rule can have */
export function parseCorsDocument(document: string): CorsRule[] {
  const root = parseDocument(document, "CORSConfiguration");
  return rulesOf(root, "CORSRule", corsRulesMax).map(parseCorsRule);
}

function rulesOf(root: XmlElement, name: string, max: number): XmlElement[] {
  const rules = childrenOf(root, name);
  if (rules.length === 0 || rules.length > max) throw new S3Error("MalformedXML");
  return rules;
}

function parseCorsRule(element: XmlElement): CorsRule {
  const texts = (name: string): string[] =>
    childrenOf(element, name).map(({ text }) => text.trim());
  const id = childText(element, "ID") ?? undefined;
  const age = childText(element, "MaxAgeSeconds")?.trim();
  const rule = {
    allowedOrigins: texts("AllowedOrigin"),
    allowedMethods: texts("AllowedMethod"),
    allowedHeaders: texts("AllowedHeader"),
    exposeHeaders: texts("ExposeHeader"),
    id,
    maxAgeSeconds: age === undefined ? undefined : Number(age),
  };
  if (rule.allowedOrigins.length === 0 || rule.allowedMethods.length === 0) {
    throw new S3Error("MalformedXML");
  }
  if (age !== undefined && !/^\d{1,9}$/.test(age)) throw new S3Error("MalformedXML");
  const method = rule.allowedMethods.find((each) => !corsMethods.has(each));
  if (method !== undefined) {
    throw new S3Error(
      "InvalidRequest",
      `Found unsupported HTTP method in CORS config. Unsupported method is ${method}`,
    );
  }
  const wild = [...rule.allowedOrigins, ...rule.allowedHeaders].find(
    (each) => each.split("*").length > 2,
  );
  if (wild !== undefined) {
    throw new S3Error(
      "InvalidRequest",
      `AllowedOrigin and AllowedHeader can not have more than one wildcard: "${wild}"`,
    );
  }
  return rule;
}

export function corsElements(rules: readonly CorsRule[]): XmlElements {
  return {
    CORSRule: rules.map((rule) => ({
      ID: rule.id,
      AllowedMethod: rule.allowedMethods,
      AllowedOrigin: rule.allowedOrigins,
      AllowedHeader: rule.allowedHeaders,
      ExposeHeader: rule.exposeHeaders,
      MaxAgeSeconds: rule.maxAgeSeconds,
    })),
  };
}

/** @throws S3Error AccessForbidden when no rule allows the request that the browser asks about */
export function preflightResponse(
  rules: readonly CorsRule[],
  headers: S3Request["headers"],
): S3Response {
  const asked = preflightOf(headers);
  if (asked === null) {
    throw new S3Error("InvalidRequest", "Insufficient information. Origin request header needed.");
  }
  const granted = preflightHeaders(rules, asked);
  if (granted !== null) return { status: 200, headers: granted };
  throw new S3Error(
    "AccessForbidden",
    rules.length === 0
      ? "CORSResponse: CORS is not enabled for this bucket."
      : "CORSResponse: This CORS request is not allowed. This is usually because the evalution of " +
          "Origin, request method / Access-Control-Request-Method or " +
          "Access-Control-Request-Headers are not whitelisted by the resource's CORS spec.",
  );
}

/** AWS's limit. */
const lifecycleRulesMax = 1000;
const idCharactersMax = 255;

type Lifecycle = Required<NonNullable<StoredSettings["lifecycle"]>>;

/**
 * @returns the text that GetBucketLifecycleConfiguration shows, and the rules that are followed
 * @throws S3Error MalformedXML, InvalidArgument, and NotImplemented for what the deployed service does not have
 */
export function parseLifecycleDocument(document: string): Lifecycle {
  const root = parseDocument(document, "LifecycleConfiguration");
  const rules = rulesOf(root, "Rule", lifecycleRulesMax);
  const ids = rules.map((rule) => childText(rule, "ID") ?? "").filter((id) => id !== "");
  if (new Set(ids).size < ids.length) {
    throw new S3Error(
      "InvalidArgument",
      "Rule ID must be unique. Found same ID for more than one rule",
    );
  }
  const elements = rules.map(ruleElements);
  const parsed = rules.map(parseRule);
  return {
    text: writeXml("LifecycleConfiguration", { Rule: elements }),
    abortRules: parsed.flatMap(({ abortRules }) => abortRules),
    objectRules: parsed.flatMap(({ objectRules }) => objectRules),
  };
}

const lifecycleFilters = ["Filter", "Prefix"];
const lifecycleActions = ["AbortIncompleteMultipartUpload", "Expiration", "Transition"];
const otherActions = new Set(["NoncurrentVersionExpiration", "NoncurrentVersionTransition"]);

/** The rule in the order of the published schema. A rule without an id gets one. */
function ruleElements(rule: XmlElement, index: number): XmlElements {
  const other = rule.children.find(({ name }) => otherActions.has(name));
  if (other !== undefined) throw new S3Error("NotImplemented", `${other.name} not implemented`);
  const status = childText(rule, "Status");
  const id = childText(rule, "ID") ?? `rule-${index + 1}`;
  const hasAction = rule.children.some(({ name }) => lifecycleActions.includes(name));
  const isValid = (status === "Enabled" || status === "Disabled") && hasAction;
  if (!isValid) throw new S3Error("MalformedXML");
  if (id.length > idCharactersMax) {
    throw new S3Error(
      "InvalidArgument",
      `ID length should not exceed allowed limit of ${idCharactersMax}`,
    );
  }
  const copied = [...lifecycleFilters, ...lifecycleActions].map(
    (name): [string, XmlElements[string]] => [name, childrenOf(rule, name).map(contentOf)],
  );
  return { ID: id, Status: status, ...Object.fromEntries(copied) };
}

function contentOf({ text, children }: XmlElement): XmlElements[string] {
  if (children.length === 0) return text.trim();
  const names = new Set(children.map(({ name }) => name));
  return Object.fromEntries(
    Array.from(names, (name) => [
      name,
      children.filter((child) => child.name === name).map(contentOf),
    ]),
  );
}

/** A rule that is disabled, or that no upload and no object can match, has to be valid too. */
function parseRule(rule: XmlElement): Omit<Lifecycle, "text"> {
  const abortRules: AbortRule[] = [];
  const objectRules: ObjectRule[] = [];
  const prefix = prefixOf(rule);
  const add = (action: ObjectRule["action"], after: ObjectRule["after"] | null): void => {
    if (after !== null) objectRules.push({ prefix: prefix ?? "", action, after });
  };
  for (const action of childrenOf(rule, "AbortIncompleteMultipartUpload")) {
    const days = parseDays(childText(action, "DaysAfterInitiation") ?? "");
    if (days < 1) throw new S3Error("MalformedXML");
    abortRules.push({ prefix: prefix ?? "", days });
  }
  for (const action of childrenOf(rule, "Expiration")) {
    add("delete", parseAfter(action, { hasMarker: true, daysMin: 1 }));
  }
  for (const action of childrenOf(rule, "Transition")) {
    const storageClass = childText(action, "StorageClass")?.trim();
    if (storageClass !== "STANDARD_IA") throw new S3Error("InvalidStorageClass");
    add("InfrequentAccess", parseAfter(action, { hasMarker: false, daysMin: 0 }));
  }
  const isFollowed = prefix !== null && childText(rule, "Status") === "Enabled";
  return isFollowed ? { abortRules, objectRules } : { abortRules: [], objectRules: [] };
}

/** @returns `null` for an action about markers of deletion, which only buckets with versions have */
function parseAfter(
  action: XmlElement,
  { hasMarker, daysMin }: { readonly hasMarker: boolean; readonly daysMin: number },
): ObjectRule["after"] | null {
  const [days, date] = [childText(action, "Days"), childText(action, "Date")];
  const marker = hasMarker ? childText(action, "ExpiredObjectDeleteMarker") : null;
  if ([days, date, marker].filter((text) => text !== null).length !== 1) {
    throw new S3Error("MalformedXML");
  }
  if (date !== null) return { time: parseDate(date.trim()) };
  if (days === null) return null;
  const count = parseDays(days);
  if (count >= daysMin) return { days: count };
  throw new S3Error(
    "InvalidArgument",
    `'Days' for ${action.name} action must be ${daysMin === 0 ? "nonnegative" : "a positive integer"}`,
  );
}

/** AWS reads a number that does not fit as malformed, and refuses negative ones as it does 0. */
function parseDays(text: string): number {
  if (!/^\s*-?\d{1,6}\s*$/.test(text)) throw new S3Error("MalformedXML");
  return Number(text);
}

/** A date of ISO 8601 at midnight of UTC: AWS takes no other time of day. */
function parseDate(text: string): number {
  const isDate = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:?\d\d))?$/.test(text);
  const time = isDate ? Date.parse(text) : NaN;
  if (Number.isNaN(time)) throw new S3Error("MalformedXML");
  if (time % dayMilliseconds !== 0) {
    throw new S3Error("InvalidArgument", "'Date' must be at midnight GMT");
  }
  return time;
}

/** `Prefix`, `Filter/Prefix` or `Filter/And/Prefix`; `null` for a rule about tags, which no object has. */
function prefixOf(rule: XmlElement): string | null {
  const [filter] = childrenOf(rule, "Filter");
  const [both] = filter === undefined ? [] : childrenOf(filter, "And");
  const holder = both ?? filter ?? rule;
  const size = holder.children.find(({ name }) => name.startsWith("ObjectSize"));
  if (size !== undefined) throw new S3Error("NotImplemented", `${size.name} not implemented`);
  return childrenOf(holder, "Tag").length > 0 ? null : (childText(holder, "Prefix") ?? "");
}

const noLifecycle: Lifecycle = { text: "", abortRules: [], objectRules: [] };
/** Every upload expires after seven days, also without a rule: the rule only says so. */
const defaultLifecycle = parseLifecycleDocument(
  "<LifecycleConfiguration><Rule><ID>Default Multipart Abort Rule</ID><Status>Enabled</Status>" +
    "<Filter><Prefix></Prefix></Filter><AbortIncompleteMultipartUpload><DaysAfterInitiation>7" +
    "</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule></LifecycleConfiguration>",
);
