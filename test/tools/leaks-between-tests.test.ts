/**
 * One file of `fixtures/bindings`: each kind of state, written by one test and looked for by the next. The
 * gate runs this file; `binding-isolation.test.ts` runs all files, in several orders.
 */
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { runVitest } from "./support/packed-project.ts";

const fixture = fileURLToPath(new URL("fixtures/bindings", import.meta.url));

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
    }[];
  }[];
}

/** The kinds of state of which the second test saw what the first had left, and the others. */
async function leakingKinds(isolate: string): Promise<{ leaking: string[]; kept: string[] }> {
  const { output } = await runVitest(fixture, ["--reporter=json", "--project=seed*", "leaks"], {
    ISOLATE: isolate,
  });
  const start = output.indexOf('{"numTotalTestSuites"');
  const report = JSON.parse(output.slice(start, output.lastIndexOf("}") + 1)) as Report;
  const seconds = report.testResults
    .flatMap((file) => file.assertionResults)
    .filter(({ title }) => title === "second");
  const names = (wanted: string): string[] =>
    seconds
      .filter(({ status }) => status === wanted)
      .map(({ ancestorTitles: [kind = ""] }) => kind.replaceAll("'", ""));
  return { leaking: names("failed"), kept: names("passed") };
}

it("a test sees nothing that another test did to any binding", async () => {
  const { leaking, kept } = await leakingKinds("");
  expect(leaking).toEqual([]);
  expect(kept.length).toBeGreaterThan(15);
});

it("the same tests fail without isolation", async () => {
  const { leaking, kept } = await leakingKinds("no");
  expect(leaking.length).toBeGreaterThan(15);
  expect(kept).toEqual([]);
});

it("isolates only the kinds that the option names", async () => {
  const { leaking, kept } = await leakingKinds("kv,cache");
  expect(kept).toEqual(["keys of KV", "large values of KV", "entries of caches"]);
  expect(leaking).toContain("rows of D1");
  expect(leaking).toContain("objects of a bucket");
});
