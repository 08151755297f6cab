/**
 * The lifecycle rules of a bucket. The abort of uploads after so many days is followed.
 *
 * Deviation: rules that delete objects or change their storage class are stored and returned, and
 * never applied: test data does not disappear by itself.
 */
import type { AbortRule } from "../store/core/multipart.ts";
import { S3Error, parseRequestDocument } from "./s3-error.ts";
import { childrenOf, childText, type XmlElement, writeXml, type XmlElements } from "../http/xml.ts";

export interface LifecycleDocument {
  /** As GetBucketLifecycleConfiguration returns it. */
  readonly text: string;
  readonly abortRules: readonly AbortRule[];
}

/** AWS's limit. */
const rulesMax = 1000;
const idCharactersMax = 255;
const dayMilliseconds = 24 * 60 * 60 * 1000;

/** @throws S3Error MalformedXML, and NotImplemented for an action that the deployed service does not have */
export function parseLifecycleDocument(document: string): LifecycleDocument {
  const root = parseRequestDocument(document, "LifecycleConfiguration");
  const rules = childrenOf(root, "Rule");
  const isValid = rules.length > 0 && rules.length <= rulesMax;
  if (!isValid) throw new S3Error("MalformedXML");
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

const filters = ["Filter", "Prefix"];
const actions = ["AbortIncompleteMultipartUpload", "Expiration", "Transition"];
const otherActions = new Set(["NoncurrentVersionExpiration", "NoncurrentVersionTransition"]);

/** The rule in the order of the published schema. A rule without an id gets one. */
function ruleElements(rule: XmlElement, index: number): XmlElements {
  const other = rule.children.find(({ name }) => otherActions.has(name));
  if (other !== undefined) throw new S3Error("NotImplemented", `${other.name} not implemented`);
  const status = childText(rule, "Status");
  const id = childText(rule, "ID") ?? `rule-${index + 1}`;
  const hasAction = rule.children.some(({ name }) => actions.includes(name));
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
  const copied = [...filters, ...actions].map((name): [string, XmlElements[string]] => [
    name,
    childrenOf(rule, name).map(contentOf),
  ]);
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
