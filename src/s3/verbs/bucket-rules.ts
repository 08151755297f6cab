/**
 * The settings of a bucket that requests put: CORS rules and lifecycle rules.
 *
 * A request is not refused because of CORS rules (`store/core/cors.ts`): its signature authorises it.
 *
 * Of the lifecycle rules, the abort of uploads after so many days is followed. Deviation: rules that
 * delete objects or change their storage class are stored and returned, and never applied: test data
 * does not disappear by itself.
 */
import {
  childrenOf,
  childText,
  writeXml,
  type XmlElement,
  type XmlElements,
} from "../../http/xml.ts";
import { corsRules, preflightHeaders, preflightOf, type CorsRule } from "../../store/core/cors.ts";
import type { AbortRule } from "../../store/core/multipart.ts";
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

  async GetBucketLifecycle(_request, bucket) {
    const { lifecycle } = await bucket.call({ method: "getSettings" });
    if (lifecycle === undefined) throw new S3Error("NoSuchLifecycleConfiguration");
    return { status: 200, headers: xmlHeaders, body: lifecycle.text };
  },

  async PutBucketLifecycle({ body }, bucket) {
    const lifecycle = parseLifecycleDocument(await body.document());
    await bucket.call({ method: "putSettings", lifecycle });
    return { status: 200 };
  },

  async DeleteBucketLifecycle(_request, bucket) {
    await bucket.call({ method: "putSettings", lifecycle: null });
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
const dayMilliseconds = 24 * 60 * 60 * 1000;

/**
 * @returns the text that GetBucketLifecycleConfiguration shows, and the rules that are followed
 * @throws S3Error MalformedXML, and NotImplemented for an action that the deployed service does not have
 */
export function parseLifecycleDocument(document: string): {
  readonly text: string;
  readonly abortRules: readonly AbortRule[];
} {
  const root = parseDocument(document, "LifecycleConfiguration");
  const rules = rulesOf(root, "Rule", lifecycleRulesMax);
  const ids = rules.map((rule) => childText(rule, "ID") ?? "").filter((id) => id !== "");
  if (new Set(ids).size < ids.length) {
    throw new S3Error(
      "InvalidArgument",
      "Rule ID must be unique. Found same ID for more than one rule",
    );
  }
  return {
    text: writeXml("LifecycleConfiguration", { Rule: rules.map(ruleElements) }),
    abortRules: rules.flatMap(abortRule),
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
  for (const { children } of rule.children) {
    for (const { text } of children.filter(({ name }) => name === "Date"))
      validateDate(text.trim());
  }
  const copied = [...lifecycleFilters, ...lifecycleActions].map(
    (name): [string, XmlElements[string]] => [name, childrenOf(rule, name).map(contentOf)],
  );
  return { ID: id, Status: status, ...Object.fromEntries(copied) };
}

/** A date of ISO 8601 at midnight of UTC: AWS takes no other time of day. */
function validateDate(text: string): void {
  const isDate = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:?\d\d))?$/.test(text);
  const time = isDate ? Date.parse(text) : NaN;
  if (Number.isNaN(time)) throw new S3Error("MalformedXML");
  if (time % dayMilliseconds !== 0) {
    throw new S3Error("InvalidArgument", "'Date' must be at midnight GMT");
  }
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

function abortRule(rule: XmlElement): AbortRule[] {
  const [action] = childrenOf(rule, "AbortIncompleteMultipartUpload");
  if (action === undefined || childText(rule, "Status") !== "Enabled") return [];
  const text = childText(action, "DaysAfterInitiation")?.trim() ?? "";
  const days = Number(text);
  if (!/^\d{1,6}$/.test(text) || days < 1) throw new S3Error("MalformedXML");
  return [{ prefix: prefixOf(rule), days }];
}

/** `Prefix`, `Filter/Prefix` or `Filter/And/Prefix` */
function prefixOf(rule: XmlElement): string {
  const [filter] = childrenOf(rule, "Filter");
  const [both] = filter === undefined ? [] : childrenOf(filter, "And");
  const holder = both ?? filter ?? rule;
  return childText(holder, "Prefix") ?? "";
}
