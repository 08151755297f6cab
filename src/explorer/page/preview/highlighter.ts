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
import type { Language } from "./content-kind.ts";

type Tone = "comment" | "keyword" | "string" | "number" | "title" | "attribute" | "meta";

/** Text of one tone. The text of all runs together is the source. */
export interface TokenRun {
  readonly text: string;
  readonly tone: Tone | null;
}

const grammars = { bash, css, go, html, ini, js, json, md, py, rs, sql, toml, ts, xml, yaml };
/** By the names that the grammars use for each other. */
const languages = grammars as Readonly<Record<string, unknown>> as Readonly<
  // The types of the grammars are made without `exactOptionalPropertyTypes`.
  Record<Language, ShjLanguageData>
>;

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
  const runs: { text: string; readonly tone: Tone | null }[] = [];
  const add = (part: string, type: ShjToken | undefined): void => {
    const tone = type === undefined ? null : tones[type];
    const last = runs.at(-1);
    if (part === "") return;
    if (last?.tone === tone) last.text += part;
    else runs.push({ text: part, tone });
  };
  tokenizeWith(text, languages[language], add, { languages });
  return runs;
}
