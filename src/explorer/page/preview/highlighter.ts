/** The highlighter with the languages of the page. A chunk of its own, loaded when a text is shown. */
import bash from "@speed-highlight/core/languages/bash.js";
import css from "@speed-highlight/core/languages/css.js";
import go from "@speed-highlight/core/languages/go.js";
import html from "@speed-highlight/core/languages/html.js";
import ini from "@speed-highlight/core/languages/ini.js";
import js from "@speed-highlight/core/languages/js.js";
import json from "@speed-highlight/core/languages/json.js";
import md from "@speed-highlight/core/languages/md.js";
import py from "@speed-highlight/core/languages/py.js";
import rs from "@speed-highlight/core/languages/rs.js";
import sql from "@speed-highlight/core/languages/sql.js";
import toml from "@speed-highlight/core/languages/toml.js";
import ts from "@speed-highlight/core/languages/ts.js";
import xml from "@speed-highlight/core/languages/xml.js";
import yaml from "@speed-highlight/core/languages/yaml.js";
import { tokenizeWith, type ShjLanguageData, type ShjToken } from "@speed-highlight/core/tokenize";
import type { Language } from "./text-language.ts";
import { TokenRuns, type TokenRun, type Tone } from "./token-runs.ts";

/** By the names that the grammars use for each other. */
const languages = {
  bash,
  css,
  go,
  html,
  ini,
  js,
  json,
  md,
  py,
  rs,
  sql,
  toml,
  ts,
  xml,
  yaml,
  // The types of the grammars are made without `exactOptionalPropertyTypes`.
} as Readonly<Record<string, unknown>> as Readonly<Record<Language, ShjLanguageData>>;

const tones: Readonly<Record<ShjToken, Tone | null>> = {
  bool: "number",
  class: "title",
  cmnt: "comment",
  deleted: "comment",
  err: null,
  esc: "meta",
  func: "title",
  insert: "string",
  kwd: "keyword",
  num: "number",
  oper: null,
  section: "title",
  str: "string",
  type: "title",
  var: "attribute",
};

export function highlightText(text: string, language: Language): readonly TokenRun[] {
  const runs = new TokenRuns();
  tokenizeWith(
    text,
    languages[language],
    (part, type) => runs.add(part, type === undefined ? null : tones[type]),
    { languages },
  );
  return runs.list;
}
