/**
 * Highlighted text, as runs of one tone. The tree of tokens of highlight.js is flattened: the
 * innermost scope with a tone decides. The text of all runs together is the source.
 */
type Tone =
  | "comment"
  | "keyword"
  | "string"
  | "number"
  | "title"
  | "attribute"
  | "meta"
  | "strong"
  | "emphasis";

export interface TokenRun {
  readonly text: string;
  readonly tone: Tone | null;
}

/** A node of highlight.js's tree of tokens. */
export interface TokenNode {
  readonly scope?: string;
  readonly children: readonly (TokenNode | string)[];
}

/** By the first part of the scope: `title` for `title.function`. */
const tones: Readonly<Record<string, Tone>> = {
  addition: "string",
  attr: "attribute",
  attribute: "attribute",
  built_in: "title",
  bullet: "keyword",
  char: "string",
  class: "title",
  code: "string",
  comment: "comment",
  deletion: "comment",
  doctag: "keyword",
  emphasis: "emphasis",
  keyword: "keyword",
  link: "string",
  literal: "number",
  meta: "meta",
  name: "keyword",
  number: "number",
  property: "attribute",
  quote: "comment",
  regexp: "string",
  section: "title",
  "selector-attr": "attribute",
  "selector-class": "attribute",
  "selector-id": "attribute",
  "selector-pseudo": "attribute",
  "selector-tag": "keyword",
  string: "string",
  strong: "strong",
  symbol: "number",
  tag: "meta",
  "template-tag": "meta",
  "template-variable": "attribute",
  title: "title",
  type: "title",
  variable: "attribute",
};

export function tokenRuns(root: TokenNode): readonly TokenRun[] {
  const runs: { text: string; tone: Tone | null }[] = [];
  const visit = (node: TokenNode, outer: Tone | null): void => {
    const tone = toneOf(node.scope) ?? outer;
    for (const child of node.children) {
      if (typeof child !== "string") {
        visit(child, tone);
        continue;
      }
      const last = runs.at(-1);
      if (last !== undefined && last.tone === tone) last.text += child;
      else runs.push({ text: child, tone });
    }
  };
  visit(root, null);
  return runs;
}

function toneOf(scope: string | undefined): Tone | null {
  const name = scope?.split(".", 1)[0] ?? "";
  return Object.hasOwn(tones, name) ? (tones[name] as Tone) : null;
}
