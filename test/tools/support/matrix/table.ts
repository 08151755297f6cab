/** The table of the matrix, and the versions that `src/base/tested-versions.ts` has from the table. */
import { compareVersions } from "../../../../src/base/package-version.ts";
import { testedVersions } from "../../../../src/base/tested-versions.ts";

/** A column of the table. */
export interface TrialResult {
  readonly name: string;
  readonly node: string;
  /** By package. Several versions are copies that npm installs beside each other. */
  readonly versions: Readonly<Record<string, readonly string[]>>;
  /** By check: `null` is a check that passed, and a text says why a check did not. */
  readonly outcomes: Readonly<Record<string, string | null>>;
}

export const packages = Object.keys(testedVersions) as (keyof typeof testedVersions)[];

const [begin, end] = ["<!-- versions: npx node test/tools/matrix.ts -->", "<!-- /versions -->"];

/** Returns the page with the table of these results. */
export function withTable(page: string, results: readonly TrialResult[]): string {
  const [start, stop] = [page.indexOf(begin), page.indexOf(end)];
  if (start === -1 || stop < start) throw new Error(`The page has no ${begin} … ${end}`);
  return `${page.slice(0, start)}${begin}\n\n${renderTable(results)}\n\n${page.slice(stop)}`;
}

export function renderTable(results: readonly TrialResult[]): string {
  const checks = new Set(results.flatMap(({ outcomes }) => Object.keys(outcomes)));
  const rows = [
    ["", ...results.map(({ name }) => name)],
    results.map(() => "---").concat("---"),
    ["Node", ...results.map(({ node }) => node)],
    ...packages.map((name) => [
      `\`${name}\``,
      ...results.map(({ versions }) => versions[name]?.join(", ") ?? ""),
    ]),
    ...Array.from(checks, (check) => [
      check,
      ...results.map(({ outcomes }) =>
        outcomes[check] === undefined ? "" : (outcomes[check] ?? "passed"),
      ),
    ]),
  ];
  return rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** The cells of the page's table, by the first cell of each row. */
export function readTable(page: string): Record<string, string[]> {
  const text = page.slice(page.indexOf(begin) + begin.length, page.indexOf(end)).trim();
  const lines = text.split("\n").filter((line) => !/^[| -]*$/.test(line));
  const rows = lines.map((line) => line.split("|").slice(1, -1));
  return Object.fromEntries(
    rows.map(([first = "", ...cells]) => [first.trim(), cells.map((cell) => cell.trim())]),
  );
}

/** The oldest and the newest version of each package, in any column of the page's table. */
export function versionRanges(page: string): Record<string, [oldest: string, newest: string]> {
  const table = readTable(page);
  return Object.fromEntries(
    packages.map((name) => {
      const cells = table[`\`${name}\``] ?? [];
      const versions = cells
        .flatMap((cell) => cell.split(", "))
        .filter(Boolean)
        .toSorted(compareVersions);
      return [name, [versions[0] ?? "", versions.at(-1) ?? ""]];
    }),
  );
}

/** The source of `tested-versions.ts` with the versions of the page's table. */
export function withVersions(source: string, page: string): string {
  const lines = Object.entries(versionRanges(page)).map(
    ([name, [oldest, newest]]) => `  "${name}": ["${oldest}", "${newest}"],\n`,
  );
  return source.replace(/(?<=export const testedVersions = \{\n)[^}]*(?=\})/, lines.join(""));
}
