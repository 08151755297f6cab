/** The results of the suite, compared with the expectations. */

interface Group {
  readonly reason: string;
  /** Names of tests, in which `*` stands for any text. */
  readonly tests?: readonly string[];
  /** Marks of the suite. */
  readonly marks?: readonly string[];
}

export interface Expectations {
  /** Tests that do not run, by name (with or without parameters) or by mark. */
  readonly leftOut: readonly Group[];
  /** Tests that run and must fail. */
  readonly fails: readonly (Group & { readonly tests: readonly string[] })[];
}

type SuiteResults = Readonly<Record<"passed" | "failed" | "skipped", readonly string[]>>;

/** Reads the report that pytest writes in JUnit's format. */
export function parseReport(xml: string): SuiteResults {
  const results = { passed: [] as string[], failed: [] as string[], skipped: [] as string[] };
  for (const [, attributes = "", content = ""] of xml.matchAll(
    /<testcase\b([^>]*?)(?:\/>|>([^]*?)<\/testcase>)/g,
  )) {
    const name = /\bname="([^"]*)"/.exec(attributes)?.[1] as string;
    const mark = /<(failure|error|skipped)\b/.exec(content)?.[1];
    results[mark === undefined ? "passed" : mark === "skipped" ? "skipped" : "failed"].push(name);
  }
  return results;
}

/** @returns sentences, one for each result that the expectations do not name */
export function unexpectedResults(
  { passed, failed }: SuiteResults,
  { fails }: Expectations,
): string[] {
  const expected = fails.flatMap(({ tests }) => tests);
  const isExpected = (name: string): boolean => expected.some((test) => matches(name, test));
  const ran = [...passed, ...failed];
  return [
    ...failed.filter((name) => !isExpected(name)).map((name) => `${name} failed.`),
    ...passed.filter(isExpected).map((name) => `${name} passed: remove it from expectations.json.`),
    ...expected
      .filter((test) => !ran.some((name) => matches(name, test)))
      .map((test) => `${test} did not run: the suite has no such test, or it is left out.`),
  ];
}

/** @param test a name in which `*` stands for any text */
function matches(name: string, test: string): boolean {
  const pattern = test.replaceAll(/[[\]]/g, "\\$&").replaceAll("*", ".*");
  return new RegExp(`^${pattern}$`).test(name);
}
