import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { childrenOf, childText, readXml, writeXml } from "./xml.ts";

describe("readXml()", () => {
  it("reads elements and their text, in any namespace", () => {
    const document = `<?xml version="1.0"?>
      <!-- parts --><s3:CompleteMultipartUpload xmlns:s3='x'>
        <Part><PartNumber>1</PartNumber><ETag>&quot;a&#34;&#x22;</ETag></Part>
        <Part><ETag><![CDATA[<b>]]></ETag><PartNumber>2</PartNumber></Part>
        <Quiet/>
      </s3:CompleteMultipartUpload>`;
    const root = readXml(document);
    expect(root.name).toBe("CompleteMultipartUpload");
    expect(
      childrenOf(root, "Part").map((part) => [
        childText(part, "PartNumber"),
        childText(part, "ETag"),
      ]),
    ).toEqual([
      ["1", '"a""'],
      ["2", "<b>"],
    ]);
    expect(childText(root, "Quiet")).toBe("");
    expect(childText(root, "Nothing")).toBeNull();
  });

  it.each([
    ["nothing", ""],
    ["text", "text"],
    ["two roots", "<a/><b/>"],
    ["an open element", "<a><b></a>"],
    ["a closed element", "</a>"],
    ["a DTD", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
    ["an unknown entity", "<a>&b;</a>"],
    ["a bare ampersand", "<a>&</a>"],
    ["a code that is no character", "<a>&#x110000;</a>"],
    ["many levels", "<a>".repeat(17) + "</a>".repeat(17)],
    ["many elements", `<a>${"<b/>".repeat(100_001)}</a>`],
  ])("refuses %s", (_, document) => {
    expect(() => readXml(document)).toThrow("not well-formed");
  });

  it("reads what writeXml() writes", () => {
    // No document can contain U+0000.
    const key = fc
      .array(fc.integer({ min: 1, max: 0xd7ff }), { maxLength: 10 })
      .map((points) => String.fromCodePoint(...points));
    fc.assert(
      fc.property(fc.array(key, { maxLength: 5 }), (keys) => {
        const root = readXml(writeXml("List", { Key: keys, Count: keys.length }));
        const read = childrenOf(root, "Key").map(({ text }) => text);
        return read.join("|") === keys.join("|") && childText(root, "Count") === `${keys.length}`;
      }),
    );
    expect.assertions(0);
  });
});
