/** The table of operations in docs/s3.md. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { verbs } from "../../src/s3/route.ts";
import { accountVerbs } from "../../src/s3/verbs/bucket-verbs.ts";

it("docs/s3.md names each operation once", () => {
  const page = readFileSync(new URL("../../docs/s3.md", import.meta.url), "utf8");
  const rows = page.matchAll(/^\| ([A-Z][A-Za-z0-9]+(?:, [A-Z][A-Za-z0-9]+)*) +\|/gm);
  const named = Array.from(rows, ([, names = ""]) => names.split(", ")).flat();
  const served = [accountVerbs, verbs].flatMap(Object.keys);
  expect(named.toSorted()).toEqual(served.toSorted());
});
