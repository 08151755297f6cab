import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { highlightText } from "./highlighter.ts";
import type { Language } from "./content-kind.ts";

const names = "bash css go html ini js json md py rs sql toml ts xml yaml".split(" ") as Language[];

describe("highlightText()", () => {
  it("gives tones to keywords, strings and comments", () => {
    expect(highlightText('const a = "x"; // y', "js")).toEqual([
      { text: "const", tone: "keyword" },
      { text: " a = ", tone: null },
      { text: '"x"', tone: "string" },
      { text: "; ", tone: null },
      { text: "// y", tone: "comment" },
    ]);
  });

  it("keeps markup as text, in the source of HTML and its scripts", () => {
    const source = "<p onclick='x()'>&lt;</p><script>let a = 1;</script>";
    const runs = highlightText(source, "html");
    expect(runs.map(({ text }) => text).join("")).toBe(source);
    expect(runs).toContainEqual({ text: "let", tone: "keyword" });
  });

  it("keeps any text whole, in every language", () => {
    const sources = fc.string({
      unit: fc.constantFrom(...Array.from("<>&;\"'`{}[]()#/*-=:$@\\ \n\ta1é")),
    });
    fc.assert(
      fc.property(sources, fc.constantFrom(...names), (source, language) => {
        const runs = highlightText(source, language);
        expect(runs.map(({ text }) => text).join("")).toBe(source);
      }),
    );
  });
});
