/** `fixtures/bindings/test/leaks.test.ts`: in each kind of state, a second test looks for what the first has left. */
import { fileURLToPath } from "node:url";
import { runVitest } from "./packed-project.ts";

const fixture = fileURLToPath(new URL("../fixtures/bindings", import.meta.url));

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
export async function leakingKinds(
  isolate: string,
): Promise<{ leaking: string[]; kept: string[] }> {
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
