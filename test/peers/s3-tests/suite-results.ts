/** The results of the suite, compared with the expectations. */

interface Group {
  readonly reason: string;
  readonly tests?: readonly string[];
  readonly marks?: readonly string[];
}

export interface Expectations {
  /** Tests that do not run, by name (with or without parameters) or by the marks of the suite. */
  readonly leftOut: readonly Group[];
  /** Tests that run and must fail. */
  readonly fails: readonly (Group & { readonly tests: readonly string[] })[];
}

export interface SuiteResults {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  readonly skipped: readonly string[];
}

/** Reads the report that pytest writes in JUnit's format. */
export function parseReport(xml: string): SuiteResults {
  const results = { passed: [] as string[], failed: [] as string[], skipped: [] as string[] };
  for (const [, attributes = "", content = ""] of xml.matchAll(
    /<testcase\b([^>]*?)(?:\/>|>([^]*?)<\/testcase>)/g,
  )) {
    const name = /\bname="([^"]*)"/.exec(attributes)?.[1] as string;
    const kind = /<(?:failure|error)\b/.test(content)
      ? "failed"
      : /<skipped\b/.test(content)
        ? "skipped"
        : "passed";
    results[kind].push(name);
  }
  return results;
}

/** @returns sentences, one for each result that the expectations do not name */
export function unexpectedResults(
  { passed, failed }: SuiteResults,
  { fails }: Expectations,
): string[] {
  const expected = new Set(fails.flatMap(({ tests }) => tests));
  const seen = new Set([...passed, ...failed]);
  return [
    ...failed.filter((name) => !expected.has(name)).map((name) => `${name} failed.`),
    ...passed
      .filter((name) => expected.has(name))
      .map((name) => `${name} passed: remove it from expectations.json.`),
    ...[...expected]
      .filter((name) => !seen.has(name))
      .map((name) => `${name} did not run: the suite has no such test, or it is left out.`),
  ];
}
