/** highlight.js with the languages of the page. A chunk of its own, loaded when a text is shown. */
import type { LanguageFn } from "highlight.js";
import highlight from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import type { Language } from "./text-language.ts";
import { tokenRuns, type TokenNode, type TokenRun } from "./token-runs.ts";

const languages: Readonly<Record<Language, LanguageFn>> = {
  bash,
  css,
  go,
  ini,
  javascript,
  json,
  markdown,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};

for (const [name, language] of Object.entries(languages))
  highlight.registerLanguage(name, language);

/** The HTML that highlight.js makes is not used: the page has no way to insert HTML. */
export function highlightText(text: string, language: Language): readonly TokenRun[] {
  const { _emitter: tokens } = highlight.highlight(text, { language, ignoreIllegals: true });
  return tokenRuns((tokens as typeof tokens & { readonly rootNode: TokenNode }).rootNode);
}
