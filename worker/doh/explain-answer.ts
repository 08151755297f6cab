/** The reasons for an answer: the rules that `answer()` applied, as names and as sentences. */
import { isMetaType, typeCodes } from "../../src/dns/wire/numbers.ts";
import { answer, type AnswerContext } from "../../src/dns/answer/answer.ts";
import type { AnswerSigner } from "../../src/dns/dnssec/answer-signer.ts";
import { Query } from "../../src/dns/answer/query.ts";
import { explainRule, subjectOf } from "../../src/dns/answer/explanation.ts";

/**
 * Explains a query that has just been answered: the caches have its external names and its
 * signatures. Zone transfers and other meta types have no reasons, because no rule answers them.
 */
export function explainAnswer(
  bytes: Uint8Array,
  context: AnswerContext,
  signer: AnswerSigner,
): Record<"rule" | "name" | "text", string>[] {
  const query = new Query();
  query.read(bytes);
  if (isMetaType(query.type) && query.type !== typeCodes.ANY) return [];
  const signing = query.dnssecOk ? { signer, compactOk: query.compactOk } : undefined;
  const made = answer(query, { ...context, signing });
  if ("kind" in made) return [];
  return made.rules.map((rule) => ({
    rule: rule.rule,
    name: subjectOf(rule),
    text: explainRule(rule),
  }));
}
